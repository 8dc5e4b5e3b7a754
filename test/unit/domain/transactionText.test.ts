import fc from 'fast-check';
import { checksumAddress } from '../../../src/chain/address';
import { decodeCall } from '../../../src/chain/decode';
import { NATIVE_CURRENCY } from '../../../src/domain/policy';
import { displayAmount } from '../../../src/domain/policyText';
import { readContent, type TransactionCall } from '../../../src/domain/transactionContent';
import {
  type TransactionFacts,
  transactionData,
  transactionSummary,
} from '../../../src/domain/transactionText';
import { anAddress } from '../../support/builders';
import { policyName } from '../../support/policies';
import { transferData } from '../../support/transactions';

const TO = anAddress();
const RECIPIENT = anAddress();
const ACCOUNT = anAddress();
const USDC = { symbol: 'USDC', name: 'USD Coin', decimals: 6, logoUrl: 'https://example.org/usdc.png' };

const network = {
  id: 31337,
  name: 'Local chain',
  nativeAsset: { symbol: 'ETH', name: 'Ether', decimals: 18 },
};

function facts(more: Partial<TransactionFacts> = {}): TransactionFacts {
  return {
    network,
    account: { name: 'Treasury', address: ACCOUNT },
    calldata: '0x',
    replaces: null,
    token: null,
    call: null,
    ...more,
  };
}

function contentOf(call: Partial<TransactionCall>) {
  const read = readContent({ to: TO, value: 0n, data: '0x', ...call }, checksumAddress);
  if (!read.ok) throw new Error(read.refusal.message);
  return read.value;
}

const FROM = `from the account "Treasury" (${ACCOUNT}) on "Local chain" (31337)`;
const word = (value: bigint) => value.toString(16).padStart(64, '0');

/** What is said about a call whose function the policy names. */
function called(data: string, signatures: readonly string[] = [], value = 0n) {
  const more = { calldata: data, call: decodeCall(data, signatures) };
  return transactionSummary(contentOf({ data, value }), facts(more)).replace(` ${FROM}`, '');
}

describe('a transfer', () => {
  it('of the native currency', () => {
    const content = contentOf({ value: 1_500_000_000_000_000_000n });
    expect(transactionSummary(content, facts())).toBe(
      `Send 1.5 "ETH" ("Ether", native currency) to ${TO} ${FROM}`,
    );
    expect(transactionData(content, facts())).toEqual({
      destination: TO,
      asset: {
        id: `31337:${NATIVE_CURRENCY}`,
        symbol: 'ETH',
        name: 'Ether',
        logoUrl: null,
        decimals: 18,
        tokenAddress: NATIVE_CURRENCY,
      },
      rawAmount: '1500000000000000000',
      displayAmount: '1.5',
      networkId: 31337,
    });
  });

  it('in place of one that failed', () => {
    const replaces = 'txn_01jwnqv8x0e1tvn5c9k3b7h2md';
    expect(transactionSummary(contentOf({ value: 1n }), facts({ replaces }))).toBe(
      `Send 0.000000000000000001 "ETH" ("Ether", native currency) to ${TO} ${FROM}, in place of the failed ${replaces}`,
    );
  });

  it('of a token', () => {
    const data = transferData(RECIPIENT, 1_000_001n);
    const known = facts({ calldata: data, token: USDC });
    expect(transactionSummary(contentOf({ data }), known)).toBe(
      `Send 1.000001 "USDC" ("USD Coin", ${TO}) to ${RECIPIENT} ${FROM}`,
    );
    expect(transactionData(contentOf({ data }), known)).toEqual({
      destination: RECIPIENT,
      asset: { id: `31337:${TO}`, ...USDC, tokenAddress: TO },
      rawAmount: '1000001',
      displayAmount: '1.000001',
      networkId: 31337,
    });
  });

  it('of a token that reports little about itself', () => {
    const token = { symbol: '', name: null, decimals: 0, logoUrl: null };
    const content = contentOf({ data: transferData(RECIPIENT, 7n) });
    expect(transactionSummary(content, facts({ token }))).toMatch(`Send 7 "" (${TO}) to ${RECIPIENT} `);
    expect(transactionData(content, facts({ token }))).toMatchObject({ asset: token });
  });

  it('of a token that nobody has signed is said in raw units', () => {
    const content = contentOf({ data: transferData(RECIPIENT, 7n) });
    expect(() => transactionData(content, facts())).toThrow(/token 0x[0-9a-fA-F]{40} was not read/);
    expect(transactionSummary(content, facts())).toBe(
      `Send 7 raw units of the token ${TO} to ${RECIPIENT} ${FROM}`,
    );
  });
});

describe('a call', () => {
  it('of a function that is known', () => {
    const data = `0x40c10f19${word(BigInt(RECIPIENT))}${word(5n)}`;
    const known = facts({ calldata: data, call: decodeCall(data, []) });
    const content = contentOf({ data });
    expect(transactionSummary(content, known)).toBe(`Call mint(to: ${RECIPIENT}, value: 5) of ${TO} ${FROM}`);
    expect(transactionData(content, known)).toEqual({
      toAddress: TO,
      calldata: data,
      networkId: 31337,
      value: '0',
      functionName: 'mint',
      functionParameters: [
        { name: 'to', type: 'address', value: RECIPIENT },
        { name: 'value', type: 'uint256', value: '5' },
      ],
    });
  });

  it('of a function that is not', () => {
    const data = '0xDEADBEEF00';
    expect(called(data)).toBe(`Call the unknown function 0xdeadbeef of ${TO} with 5 bytes of calldata`);
    expect(transactionData(contentOf({ data }), facts({ calldata: data }))).toEqual({
      toAddress: TO,
      calldata: data,
      networkId: 31337,
      value: '0',
    });
  });

  it.each([
    ['0x', `Call ${TO} without calldata`],
    ['0x01', `Call ${TO} with 1 byte of calldata`],
    ['0x010203', `Call ${TO} with 3 bytes of calldata`],
    ['0x8456cb59', `Call pause() of ${TO}`],
  ])('with the calldata %s', (data, text) => expect(called(data)).toBe(text));

  it('with native currency names the amount', () => {
    expect(called('0xd0e30db0', [], 2n * 10n ** 17n)).toBe(
      `Call deposit() of ${TO}, together with 0.2 "ETH"`,
    );
    expect(called('0x12345678', [], 1n)).toBe(
      `Call the unknown function 0x12345678 of ${TO} with 4 bytes of calldata, together with 0.000000000000000001 "ETH"`,
    );
  });

  it('with texts quotes them, escapes what cannot be seen, and cuts what is long', () => {
    const text = (value: string) => {
      const bytes = Buffer.from(value);
      const padded = bytes.toString('hex').padEnd(Math.ceil(bytes.length / 32) * 64, '0');
      return called(`0xc47f0027${word(32n)}${word(BigInt(bytes.length))}${padded}`, ['setName(string)']);
    };
    expect(text('a "quoted" one')).toBe(`Call setName("a \\"quoted\\" one") of ${TO}`);
    expect(text('x\ny\u202e\u2028\u200b\u007f😀')).toBe(
      `Call setName("x\\ny\\u202e\\u2028\\u200b\\u007f😀") of ${TO}`,
    );
    expect(text('😀'.repeat(101))).toBe(`Call setName("${'😀'.repeat(100)}"… (101 characters)) of ${TO}`);
  });

  it('with many bytes or many values shows the first, and how many there are', () => {
    const call = (functionParameters: NonNullable<TransactionFacts['call']>['functionParameters']) =>
      transactionSummary(
        contentOf({ data: '0x12345678' }),
        facts({ calldata: '0x12345678', call: { functionName: 'run', functionParameters } }),
      ).replace(` of ${TO} ${FROM}`, '');
    const parameter = (type: string, value: string, name = '') => ({ name, type, value });
    expect(call([parameter('bytes', `0x${'ab'.repeat(64)}`)])).toBe(`Call run(0x${'ab'.repeat(64)})`);
    expect(call([parameter('bytes', `0x${'ab'.repeat(65)}`)])).toBe(
      `Call run(0x${'ab'.repeat(64)}… (65 bytes))`,
    );
    expect(call([parameter('uint256[]', '["1","2"]', 'ids'), parameter('bool', 'true')])).toBe(
      'Call run(ids: ["1", "2"], true)',
    );
    const amounts = JSON.stringify(Array.from({ length: 40 }, () => '9'.repeat(78)));
    expect(call([parameter('uint256[]', amounts)])).toBe(
      `Call run([${`"${'9'.repeat(78)}", `.repeat(3)}37 more])`,
    );
    expect(call([parameter('(bool,string[])', JSON.stringify([true, ['x'.repeat(500)]]))])).toBe(
      `Call run([true, ["${'x'.repeat(100)}"… (500 characters)]])`,
    );
    const sixteen = Array.from({ length: 16 }, (_, i) => parameter('uint256', '9'.repeat(78), `p${i}`));
    expect(call(sixteen)).toMatch(/^Call run\(p0: 9+, (p\d+: 9+, ){11}4 more\)$/);
    const hidden = JSON.stringify([Array.from({ length: 9 }, () => '\u200b'.repeat(100))]);
    expect(call([parameter('string[][]', hidden)])).toBe('Call run([[9 values]])');
  });
});

describe('every transaction', () => {
  it('is one plain line, in which names and amounts stand as they are', () => {
    const amount = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n });
    const decimals = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(
        policyName,
        policyName,
        amount,
        decimals,
        fc.boolean(),
        (name, symbol, value, places, native) => {
          const token = { symbol, name, decimals: places, logoUrl: null };
          const known = facts({
            account: { name, address: ACCOUNT },
            network: native ? { ...network, nativeAsset: token } : network,
            token: native ? null : token,
          });
          const content = contentOf(native ? { value } : { data: transferData(RECIPIENT, value) });
          const summary = transactionSummary(content, known);
          expect(summary).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
          expect(
            summary.startsWith(`Send ${displayAmount(String(value), places)} ${JSON.stringify(symbol)} (`),
          ).toBe(true);
          expect(summary).toContain(` from the account ${JSON.stringify(name)} (${ACCOUNT}) on `);
          expect(transactionData(content, known)).toMatchObject({
            rawAmount: String(value),
            destination: native ? TO : RECIPIENT,
          });
        },
      ),
    );
  });

  it('is said in at most two thousand characters or so, whatever its texts', () => {
    const listed: fc.Arbitrary<string> = fc
      .letrec<{ value: unknown }>((tie) => ({
        value: fc.oneof(
          { maxDepth: 3 },
          fc.string({ unit: 'binary', maxLength: 300 }),
          fc.boolean(),
          fc.array(tie('value'), { maxLength: 20 }),
        ),
      }))
      .value.map((value) => JSON.stringify([value]));
    const parameter = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 5_000 }).map((value) => ({ name: '', type: 'string', value })),
      listed.map((value) => ({ name: 'list', type: '(string)[]', value })),
    );
    fc.assert(
      fc.property(fc.array(parameter, { maxLength: 20 }), (functionParameters) => {
        const call = { functionName: 'f'.repeat(990), functionParameters };
        const summary = transactionSummary(
          contentOf({ data: '0x12345678' }),
          facts({ calldata: '0x12345678', call }),
        );
        expect(summary.length).toBeLessThan(2_000);
        expect(summary).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
});
