import type { Approval } from '@orgwallet/client';
import { headline } from '../../../console/src/text/headline.ts';

const NAMES = {
  account: (id: string) => (id === 'acc_1' ? 'Treasury' : undefined),
  network: () => undefined,
  owner: () => undefined,
  noted: () => undefined,
};
const changeOf = (item: object) =>
  ({ resourceType: 'accounts', action: 'update', data: { items: [item] } }) as unknown as Approval;

describe('the line of a change of an account', () => {
  it.each([
    ['its new name', { id: 'acc_1', name: 'Savings' }, 'Change account “Savings”'],
    ['its name where that stays', { id: 'acc_1', networkIds: [31338] }, 'Change account “Treasury”'],
    ['its id where nothing else is known', { id: 'acc_2', networkIds: [31338] }, 'Change account “acc_2”'],
  ])('says %s', (_, item, line) => {
    expect(headline(changeOf(item), NAMES)).toBe(line);
  });
});

describe('the line of a transfer', () => {
  const TOKEN = `0x${'1'.repeat(40)}`;
  const lineOf = (summary: string, asset: object = {}, names: object = {}) =>
    headline(
      {
        type: 'TOKEN_TRANSFER',
        accountId: 'acc_1',
        networkId: 1,
        summary,
        data: {
          destination: `0x${'b'.repeat(40)}`,
          rawAmount: '5000000',
          asset: {
            id: `1:${TOKEN}`,
            symbol: 'USDC',
            name: 'USD Coin',
            decimals: 6,
            tokenAddress: TOKEN,
            ...asset,
          },
        },
      } as unknown as Approval,
      { ...NAMES, ...names },
    );
  const rest = 'from “Treasury” to 0xbbbb…bbbb on network 1';

  it('names the token as what is signed does, and not as the token calls itself', () => {
    expect(lineOf(`Send 5 "USDC" ("USD Coin", ${TOKEN}) to 0x`)).toBe(`Send 5 USDC ${rest}`);
    expect(lineOf(`Send 5 "JUNK" (${TOKEN}) to 0x`)).toBe(`Send 5 JUNK ${rest}`);
    expect(lineOf(`Send 5 "A symbol that is too long"… (${TOKEN}) to 0x`)).toBe(
      `Send 5 “A symbol that is too long…” ${rest}`,
    );
    expect(lineOf(`Send 5 "US\\u200bDC" (${TOKEN}) to 0x`)).toBe(`Send 5 “US\\u200bDC” ${rest}`);
  });

  it('has the smallest unit where what is signed has it, whatever decimals the token has', () => {
    expect(lineOf(`Send 5000000 raw units of the token ${TOKEN} to 0x`)).toBe(
      `Send 5\u202f000\u202f000 raw units of token ${TOKEN} ${rest}`,
    );
  });

  it('is not turned by a name', () => {
    const names = { account: () => 'Trea\u202esury', network: () => 'Main\u202enet' };
    expect(lineOf(`Send 5 "USDC" (${TOKEN}) to 0x`, {}, names)).toBe(
      'Send 5 USDC from “Trea\\u202esury” to 0xbbbb…bbbb on “Main\\u202enet”',
    );
  });
});
