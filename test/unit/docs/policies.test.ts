import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Address, encodeFunctionData, erc20Abi, type Hex, parseAbi, toFunctionSelector } from 'viem';
import { checksumAddress } from '../../../src/chain/address';
import { isRestricted } from '../../../src/chain/functions';
import { nestedCallsOf } from '../../../src/chain/nestedCalls';
import type { PolicyItem } from '../../../src/contract/policyContract';
import type { MemberSummary } from '../../../src/domain/approval';
import { NATIVE_CURRENCY, type Policy } from '../../../src/domain/policy';
import { type Evaluation, evaluate, type Usage, usageWindow } from '../../../src/domain/policyEngine';
import { readContent } from '../../../src/domain/transactionContent';
import { policiesCreateRequest } from '../../../src/operations/policiesCreate.request';
import { definitionFrom } from '../../../src/operations/policyItems.request';

const page = readFileSync(join(__dirname, '..', '..', '..', 'docs', 'policy-cookbook.md'), 'utf8');

/** The ids and addresses that the policies of the page name. */
const ACCOUNT = 'acc_01jz8k3v5fe5ht0n2m6w9r4xyz';
const GROUP = 'grp_01jz8k3v5fe5ht0n2m6w9r4xyz';
const TOKEN = '0x468f18d57bC8bAE33874e6429638edf9F6F77c41';
const FIRST = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const OTHER_TOKEN = checksumAddress(`0x${'aa'.repeat(20)}`);
const RITA = checksumAddress(`0x${'bb'.repeat(20)}`);
const SAM = checksumAddress(`0x${'cc'.repeat(20)}`);
const OTHER_ACCOUNT = 'acc_01jz8k3v5fe5ht0n2m6w9r4xy0';

const person = (name: string, id: string): MemberSummary => ({
  id,
  name,
  type: 'user',
  walletAddress: checksumAddress(`0x${'1'.repeat(40)}`),
  walletKind: 'key',
});
const people = {
  Mia: person('Mia', 'mem_01jz8k3v5fe5ht0n2m6w9r4xyz'),
  Ann: person('Ann', 'mem_01jz8k3v5fe5ht0n2m6w9r4xy1'),
  Ben: person('Ben', 'mem_01jz8k3v5fe5ht0n2m6w9r4xy2'),
  Cem: person('Cem', 'mem_01jz8k3v5fe5ht0n2m6w9r4xy3'),
  Zoe: person('Zoe', 'mem_01jz8k3v5fe5ht0n2m6w9r4xy4'),
};
const members = new Map(Object.values(people).map((member) => [member.id, member]));
const groups = new Map([[GROUP, [people.Ann, people.Ben, people.Cem]]]);

interface Asked {
  readonly by: keyof typeof people;
  readonly call: { readonly to: string; readonly value: bigint; readonly data: string };
  readonly account?: string;
  readonly hoursAgo?: number;
}

/** 18 decimals. */
const whole = (text: string): bigint => {
  const [before = '', after = ''] = text.split('.');
  return BigInt(`${before}${after.padEnd(18, '0')}`);
};
const native = (to: string, amount: string) => ({ to, value: whole(amount), data: '0x' });
const token = (to: string, amount: string, of: string = TOKEN) => {
  const args = [to as Address, whole(amount)] as const;
  return { to: of, value: 0n, data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args }) };
};
const call = (signature: string, more: { value?: string; to?: string } = {}) => ({
  to: more.to ?? TOKEN,
  value: whole(more.value ?? '0'),
  data: toFunctionSelector(signature) as string,
});
const approve = encodeFunctionData({
  abi: parseAbi(['function approve(address,uint256)']),
  args: [RITA as Address, 1n],
}) as Hex;

/** The transaction of each row of the page and the executions before it, in the order of the page. */
const rows: { readonly [policy: string]: readonly [string, Asked, (readonly Asked[])?, string?][] } = {
  'Petty cash': [
    ['100 to anybody, by Ann', { by: 'Ann', call: token(RITA, '100') }],
    ['the smallest unit more', { by: 'Ann', call: token(RITA, '100.000000000000000001') }],
    [
      '1 by Ann, who has sent 100 within the day',
      { by: 'Ann', call: token(SAM, '1') },
      [{ by: 'Ann', call: token(RITA, '100'), hoursAgo: 24 }],
    ],
    [
      '100 by Ben, though Ann has sent 100',
      { by: 'Ben', call: token(SAM, '100') },
      [{ by: 'Ann', call: token(RITA, '100') }],
    ],
    ['1 by Zoe', { by: 'Zoe', call: token(RITA, '1') }],
    ['1 ETH', { by: 'Ann', call: native(RITA, '1') }],
    ['a call of `burn(uint256)`', { by: 'Ann', call: call('burn(uint256)') }],
  ],
  Payouts: [
    ['5 to Rita, by Mia (the bot)', { by: 'Mia', call: token(RITA, '5') }],
    [
      '1 to Rita, half an hour later',
      { by: 'Mia', call: token(RITA, '1') },
      [{ by: 'Mia', call: token(RITA, '5'), hoursAgo: 0.5 }],
    ],
    [
      '5 to Sam, half an hour later',
      { by: 'Mia', call: token(SAM, '5') },
      [{ by: 'Mia', call: token(RITA, '5'), hoursAgo: 0.5 }],
    ],
    ['1 by Ann', { by: 'Ann', call: token(RITA, '1') }],
  ],
  Salaries: [
    ['20,000 by Zoe', { by: 'Zoe', call: token(RITA, '20000') }],
    ['20,000 by Ben', { by: 'Ben', call: token(RITA, '20000') }],
    ['20,001', { by: 'Zoe', call: token(RITA, '20001') }],
  ],
  Suppliers: [
    ['1,000,000 to the first of the two, by Ann', { by: 'Ann', call: token(FIRST, '1000000') }],
    ['1 to Rita', { by: 'Ann', call: token(RITA, '1') }],
    ['1 of another token to the first', { by: 'Ann', call: token(FIRST, '1', OTHER_TOKEN) }],
  ],
  'To the cold wallet': [
    [
      'all of any token, from any account, by Zoe',
      { by: 'Zoe', call: token(FIRST, '1000000', OTHER_TOKEN), account: OTHER_ACCOUNT },
    ],
    ['all of its ETH', { by: 'Zoe', call: native(FIRST, '1000') }],
    ['1 to Rita', { by: 'Zoe', call: token(RITA, '1') }],
    [
      'an address without a contract, by the same bytes',
      { by: 'Zoe', call: token(FIRST, '1', OTHER_TOKEN) },
      [],
      'there is no contract',
    ],
  ],
  Gas: [
    ['0.1 to Rita, by Ann', { by: 'Ann', call: native(RITA, '0.1') }],
    [
      '0.1 to Rita, by Ben, 6 days later',
      { by: 'Ben', call: native(RITA, '0.1') },
      [{ by: 'Ann', call: native(RITA, '0.1'), hoursAgo: 144 }],
    ],
    [
      'the same, 8 days later',
      { by: 'Ben', call: native(RITA, '0.1') },
      [{ by: 'Ann', call: native(RITA, '0.1'), hoursAgo: 192 }],
    ],
    ['0.1 with calldata', { by: 'Ann', call: call('deposit()', { value: '0.1', to: RITA }) }],
  ],
  Rent: [
    ['any amount to the landlord, by Ann', { by: 'Ann', call: token(FIRST, '1500') }],
    [
      '1 more, 29 days later',
      { by: 'Ann', call: token(FIRST, '1') },
      [{ by: 'Ben', call: token(FIRST, '1500'), hoursAgo: 696 }],
    ],
    [
      'the next rent, 31 days later',
      { by: 'Ann', call: token(FIRST, '1500') },
      [{ by: 'Ben', call: token(FIRST, '1500'), hoursAgo: 744 }],
    ],
  ],
  'Market maker': [
    ['`deposit()` with 1 ETH, by Mia', { by: 'Mia', call: call('deposit()', { value: '1' }) }],
    ['`deposit()` with 2 ETH', { by: 'Mia', call: call('deposit()', { value: '2' }) }],
    ['`burn(uint256)`', { by: 'Mia', call: call('burn(uint256)') }],
    ['`deposit()` of another contract', { by: 'Mia', call: call('deposit()', { to: OTHER_TOKEN }) }],
    ['1 ETH without calldata', { by: 'Mia', call: native(TOKEN, '1') }],
  ],
  Allowances: [
    ['`approve(address,uint256)`, by Ann', { by: 'Ann', call: { to: TOKEN, value: 0n, data: approve } }],
    [
      '`transferFrom(address,address,uint256)`',
      { by: 'Ann', call: call('transferFrom(address,address,uint256)') },
    ],
    [
      '`approve(address,uint256)` of another token',
      { by: 'Ann', call: { to: OTHER_TOKEN, value: 0n, data: approve } },
    ],
  ],
  Board: [
    ['any transfer from any account, by Zoe', { by: 'Zoe', call: native(RITA, '1000') }],
    ['any call, by Zoe', { by: 'Zoe', call: call('burn(uint256)') }],
    ['the same by Ann, who is one of the board', { by: 'Ann', call: native(RITA, '1000') }],
    ['`approve(address,uint256)`', { by: 'Zoe', call: { to: TOKEN, value: 0n, data: approve } }],
    [
      'a second one of that account on the same day',
      { by: 'Zoe', call: call('burn(uint256)') },
      [{ by: 'Zoe', call: native(RITA, '1000'), hoursAgo: 3 }],
    ],
    [
      'one of another account',
      { by: 'Zoe', call: call('burn(uint256)'), account: OTHER_ACCOUNT },
      [{ by: 'Zoe', call: native(RITA, '1000'), hoursAgo: 3 }],
    ],
  ],
};

interface Section {
  readonly policy: Policy;
  /** Each transaction, and its result according to the page. */
  readonly table: readonly (readonly [string, string])[];
}

function sections(): Section[] {
  const request = policiesCreateRequest.requests.find(({ path }) => path === '/policies/proposals/add');
  if (!request) throw new Error('no endpoint adds policies');
  return page
    .split(/^## /m)
    .filter((text) => text.includes('`POST /policies/proposals/add`:'))
    .map((text) => {
      const [, json = ''] = /```json\n([\s\S]*?)```/.exec(text) ?? [];
      const { policies } = request.body.parse(JSON.parse(json)) as unknown as { policies: PolicyItem[] };
      const [item] = policies;
      if (!item) throw new Error('a section without a policy');
      const table = [...text.matchAll(/^\| (.+?) +\| (.+?) +\|$/gm)]
        .map(([, asked = '', answer = '']) => [asked, answer] as const)
        .filter(([asked]) => asked !== 'Asked' && !asked.startsWith('--'));
      const isEther = json.includes(`"tokenAddress": "${NATIVE_CURRENCY}"`);
      const named = { symbol: isEther ? 'ETH' : 'DEMO', name: 'Token', decimals: 18, logoUrl: null };
      const definition = definitionFrom(item, named);
      return { policy: { ...definition, id: 'pol_01jz8k3v5fe5ht0n2m6w9r4xyz' }, table };
    });
}

function transactionOf({ by, call: asked, account = ACCOUNT }: Asked) {
  const content = readContent(asked, checksumAddress);
  if (!content.ok) throw new Error(content.refusal.message);
  return {
    networkId: 31_337,
    accountId: account,
    initiatorId: people[by].id,
    content: content.value,
    nested: nestedCallsOf(asked),
  };
}

/** What the window of a transaction contains, of the executions `before` it. */
function usageOf(policy: Policy, asked: Asked, before: readonly Asked[]): Usage | null {
  const window = usageWindow(policy, transactionOf(asked));
  if (!window) return null;
  const counted = before.filter((past) => {
    const { content, initiatorId, accountId } = transactionOf(past);
    const transfer = content.type === 'TOKEN_TRANSFER';
    const destination = transfer ? content.destination : content.contractAddress;
    return (
      (past.hoursAgo ?? 0) <= window.hours &&
      (window.initiatorId ?? initiatorId) === initiatorId &&
      (window.accountId ?? accountId) === accountId &&
      (window.destination ?? destination) === destination &&
      (window.asset === null || (transfer && window.asset.tokenAddress === content.tokenAddress))
    );
  });
  const amounts = counted.map((past) => {
    const { content } = transactionOf(past);
    return content.type === 'TOKEN_TRANSFER' ? content.amount : 0n;
  });
  const amount = amounts.reduce((sum, one) => sum + one, 0n);
  return { amount, executions: counted.length, oldestBlockAt: null, at: new Date() };
}

/** The result as the page writes it: ids and addresses shortened. */
function inWords({ allowed, failures, approvers, threshold }: Evaluation): string {
  const short = (text: string) =>
    text
      .replace(/\b(mem|grp|acc)_\w{26}/g, '$1_…')
      .replace(/0x([0-9a-fA-F]{4})[0-9a-fA-F]{32}([0-9a-fA-F]{4})/g, '0x$1…$2');
  if (!allowed) {
    return `\`${failures.map(({ condition, found, wanted }) => short(`${condition} ${found} (wanted: ${wanted})`)).join('; ')}\``;
  }
  if (threshold === 0) return 'executes';
  return `waits for ${threshold} of ${approvers.map(({ name }) => name).join(', ')}`;
}

describe('the ten policies of docs/policy-cookbook.md', () => {
  const found = sections();

  it('have a table of results each', () => {
    expect(found.map(({ policy }) => policy.name)).toEqual(Object.keys(rows));
    expect(found).toHaveLength(10);
  });

  it.each(found.map((section) => [section.policy.name, section] as const))(
    'permit and refuse as the table of %s says',
    (name, { policy, table }) => {
      const expected = (rows[name] ?? []).map(([words, asked, before, tokenFault = null]) => {
        const transaction = transactionOf(asked);
        const { content, accountId } = transaction;
        const isNative = content.type === 'TOKEN_TRANSFER' && content.tokenAddress === NATIVE_CURRENCY;
        const evaluation = evaluate(policy, transaction, {
          account: { id: accountId, networkIds: [31_337] },
          members,
          groups,
          isRestricted,
          nativeAsset: { symbol: 'ETH', decimals: 18 },
          tokenFault: isNative ? null : tokenFault,
          // Only what is executed meets a budget.
          usage: before ? usageOf(policy, asked, before) : null,
        });
        return [words, inWords(evaluation)];
      });
      expect(table).toEqual(expected);
    },
  );
});
