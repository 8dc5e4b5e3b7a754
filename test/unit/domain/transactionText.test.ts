import fc from 'fast-check';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { checksumAddress } from '../../../src/chain/address';
import { decodeCall } from '../../../src/chain/decode';
import { selectorOf } from '../../../src/chain/functions';
import { nestedCallsOf } from '../../../src/chain/nestedCalls';
import { NATIVE_CURRENCY } from '../../../src/domain/policy';
import { displayAmount } from '../../../src/domain/policyText';
import { quotedName } from '../../../src/domain/summary';
import { readContent, type TransactionCall } from '../../../src/domain/transactionContent';
import { transactionData } from '../../../src/domain/transactionData';
import { replacedIn, type TransactionFacts, transactionSummary } from '../../../src/domain/transactionText';
import { type SignedTokens, summaryOf } from '../../../src/transactions/summary';
import { anAddress } from '../../support/builders';
import { policyName } from '../../support/policies';
import { aCallPolicy, aRule, transferData } from '../../support/transactions';

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

const FROM = `From the account "Treasury" (${ACCOUNT}) on "Local chain" (31337)`;
const word = (value: bigint) => value.toString(16).padStart(64, '0');

/** What is said about a call whose function the policy names. */
function called(data: string, signatures: readonly string[] = [], value = 0n) {
  const more = { calldata: data, call: decodeCall(data, signatures) };
  return transactionSummary(contentOf({ data, value }), facts(more)).replace(`\n${FROM}`, '');
}

describe('a transfer', () => {
  it('of the native currency', () => {
    const content = contentOf({ value: 1_500_000_000_000_000_000n });
    expect(transactionSummary(content, facts())).toBe(
      `Send 1.5 "ETH" ("Ether", native currency) to ${TO}\n${FROM}`,
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
      `Send 0.000000000000000001 "ETH" ("Ether", native currency) to ${TO}\n${FROM}\nIn place of the failed ${replaces}`,
    );
  });

  it('of a token', () => {
    const data = transferData(RECIPIENT, 1_000_001n);
    const known = facts({ calldata: data, token: USDC });
    expect(transactionSummary(contentOf({ data }), known)).toBe(
      `Send 1.000001 "USDC" ("USD Coin", ${TO}) to ${RECIPIENT}\n${FROM}`,
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
    expect(transactionSummary(content, facts({ token }))).toMatch(`Send 7 "" (${TO}) to ${RECIPIENT}\n`);
    expect(transactionData(content, facts({ token }))).toMatchObject({ asset: token });
  });

  it('of a token that nobody has signed is said in raw units', () => {
    const content = contentOf({ data: transferData(RECIPIENT, 7n) });
    expect(() => transactionData(content, facts())).toThrow(/token 0x[0-9a-fA-F]{40} was not read/);
    expect(transactionSummary(content, facts())).toBe(
      `Send 7 raw units of the token ${TO} to ${RECIPIENT}\n${FROM}`,
    );
  });
});

describe('a call', () => {
  it('of a function that is known', () => {
    const data = `0x40c10f19${word(BigInt(RECIPIENT))}${word(5n)}`;
    const known = facts({ calldata: data, call: decodeCall(data, []) });
    const content = contentOf({ data });
    expect(transactionSummary(content, known)).toBe(
      `Call mint of ${TO} with 2 parameters\n${FROM}\nto: ${RECIPIENT}\nvalue: 5`,
    );
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
    ['0x8456cb59', `Call pause of ${TO} without parameters`],
  ])('with the calldata %s', (data, text) => expect(called(data)).toBe(text));

  it('with native currency names the amount', () => {
    expect(called('0xd0e30db0', [], 2n * 10n ** 17n)).toBe(
      `Call deposit of ${TO} without parameters, together with 0.2 "ETH"`,
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
    const said = (words: string) => `Call setName of ${TO} with 1 parameter\n1: ${words}`;
    expect(text('a "quoted" one')).toBe(said('"a \\"quoted\\" one"'));
    expect(text('x\ny\u202e\u2028\u200b\u007f😀')).toBe(said('"x\\ny\\u202e\\u2028\\u200b\\u007f😀"'));
    expect(text('😀'.repeat(31))).toBe(said(`"${'😀'.repeat(30)}"… (31 characters)`));
  });

  it('with many bytes or many values shows the first, and how many there are', () => {
    const call = (functionParameters: NonNullable<TransactionFacts['call']>['functionParameters']) =>
      transactionSummary(
        contentOf({ data: '0x12345678' }),
        facts({ calldata: '0x12345678', call: { functionName: 'run', functionParameters } }),
      )
        .split('\n')
        .slice(2);
    const parameter = (type: string, value: string, name = '') => ({ name, type, value });
    expect(call([parameter('bytes', `0x${'ab'.repeat(64)}`)])).toEqual([`1: 0x${'ab'.repeat(64)}`]);
    expect(call([parameter('bytes', `0x${'ab'.repeat(65)}`)])).toEqual([
      `1: 0x${'ab'.repeat(64)}… (65 bytes)`,
    ]);
    expect(call([parameter('uint256[]', '["1","2"]', 'ids'), parameter('bool', 'true')])).toEqual([
      'ids: ["1", "2"]',
      '2: true',
    ]);
    const amounts = JSON.stringify(Array.from({ length: 40 }, () => '9'.repeat(78)));
    const two = Array.from({ length: 2 }, () => `"${'9'.repeat(78)}"`).join(', ');
    expect(call([parameter('uint256[]', amounts)])).toEqual([`1: [${two} and 38 more]`]);
    expect(call([parameter('(bool,string[])', JSON.stringify([true, ['x'.repeat(500)]]))])).toEqual([
      `1: [true, ["${'x'.repeat(120)}"… (500 characters)]]`,
    ]);
    const thirty = Array.from({ length: 30 }, (_, i) => parameter('uint256', '9'.repeat(78), `p${i}`));
    expect(call(thirty).at(-1)).toBe('21 of 30 shown: the calldata has all');
    const hidden = JSON.stringify([Array.from({ length: 9 }, () => '\u200b'.repeat(100))]);
    expect(call([parameter('string[][]', hidden)])).toEqual([
      `1: [["${'\\u200b'.repeat(20)}"… (100 characters) and 8 more]]`,
    ]);
  });

  it('cannot be read as one that replaces another', () => {
    const functionParameters = [{ name: 'In place of the failed txn_1', type: 'uint256', value: '1' }];
    const call = { functionName: 'run', functionParameters };
    const content = contentOf({ data: '0x12345678' });
    expect(replacedIn(transactionSummary(content, facts({ call })))).toBeNull();
    expect(replacedIn(transactionSummary(content, facts({ call, replaces: 'txn_2' })))).toBe('txn_2');
  });
});

describe('a call that carries others', () => {
  const [SPENDER, POLICY] = [checksumAddress(anAddress()) as Hex, aCallPolicy(null)];
  const encode = (declaration: string, ...args: unknown[]) =>
    encodeFunctionData({ abi: parseAbi([`function ${declaration}`] as readonly string[]), args } as never);
  const approve = encode('approve(address spender, uint256 value)', SPENDER, 7n);
  const aggregate = (...calls: [string, bigint, string][]) =>
    encode(
      'aggregate3Value((address target, bool may, uint256 value, bytes data)[] calls)',
      calls.map(([target, value, data]) => ({ target, may: false, value, data })),
    );

  /** The lines after the first two, without those of the parameters. */
  function carriedLines(data: string, tokens: SignedTokens = () => null): string[] {
    const content = contentOf({ data });
    const carried = nestedCallsOf({ to: TO, value: 0n, data });
    const lines = summaryOf({
      ...facts({ calldata: data }),
      policy: POLICY,
      content,
      nested: carried,
      tokens,
    }).split('\n');
    for (const line of lines) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(252);
    expect(Buffer.byteLength(lines.join('\n'))).toBeLessThanOrEqual(2_000);
    return lines.slice(2).filter((line) => /^([\d.]+\. |[A-Z]{3}|\d+ of )/.test(line));
  }

  it('says each on a line, restricted ones first', () => {
    const data = aggregate(
      [RECIPIENT, 10n ** 18n, '0x'],
      [TO, 0n, transferData(RECIPIENT, 5n)],
      [TO, 0n, '0xdeadbeef00'],
      [TO, 0n, approve],
    );
    expect(carriedLines(data)).toEqual([
      `4. RESTRICTED: Call approve of ${TO} with 2 parameters (spender: ${SPENDER}, value: 7)`,
      `1. Send 1 "ETH" ("Ether", native currency) to ${RECIPIENT}`,
      `2. Send 5 raw units of the token ${TO} to ${RECIPIENT}`,
      `3. Call the unknown function 0xdeadbeef of ${TO} with 5 bytes of calldata`,
    ]);
  });

  it.each<[string, [string, bigint, string], string]>([
    ['of a token', [TO, 0n, transferData(RECIPIENT, 5n)], 'Send 5 raw units'],
    ['of native currency', [RECIPIENT, 1n, '0x'], 'Send 0.000000000000000001 "ETH"'],
    ['of native currency, with a call', [TO, 1n, '0xdeadbeef'], 'Call the unknown function 0xdeadbeef'],
  ])('leaves out no transfer that many other calls stand before: %s', (_, transfer, text) => {
    const many = Array.from({ length: 40 }, (): [string, bigint, string] => [TO, 0n, '0xdeadbeef']);
    const lines = carriedLines(aggregate(...many, transfer));
    expect(lines[0]).toMatch(`41. ${text}`);
    expect(lines.at(-1)).toMatch(/^\d+ of \d+ shown: the calldata has all$/);
    const inOthers = carriedLines(aggregate(...many, [TO, 0n, aggregate(transfer)]));
    expect(inOthers[1]).toMatch(`41.1. ${text}`);
  });

  it('says transfers of tokens that the organization has signed in whole units, at every depth', () => {
    const send = transferData(RECIPIENT, 1_500_000n);
    const tokens: SignedTokens = (address) => (address === TO ? USDC : null);
    const text = `Send 1.5 "USDC" ("USD Coin", ${TO}) to ${RECIPIENT}`;
    const data = aggregate(
      [TO, 0n, send],
      [RECIPIENT, 0n, transferData(TO, 5n)],
      [TO, 0n, aggregate([TO, 0n, send])],
    );
    const lines = carriedLines(data, tokens);
    expect(lines).toContain(`1. ${text}`);
    expect(lines).toContain(`2. Send 5 raw units of the token ${RECIPIENT} to ${TO}`);
    expect(lines).toContain(`3.1. ${text}`);
  });

  it('says a transfer whose line would be too long in raw units', () => {
    const most = 2n ** 256n - 1n;
    const long = { symbol: 's'.repeat(100), name: 'n'.repeat(100), decimals: 36, logoUrl: null };
    const deep = Array.from({ length: 4 }).reduce<string>(
      (data) => aggregate([TO, 0n, data]),
      transferData(RECIPIENT, most),
    );
    expect(carriedLines(deep, () => long).at(-1)).toBe(
      `1.1.1.1. Send ${most} raw units of the token ${TO} to ${RECIPIENT}`,
    );
  });

  it('says those inside of others by their places', () => {
    const [outer, inner] = carriedLines(aggregate([TO, 0n, encode('multicall(bytes[])', [approve])]));
    expect(outer).toMatch(`1. RESTRICTED: Call multicall of ${TO} with 1 parameter (`);
    expect(inner).toMatch(`1.1. RESTRICTED: Call approve of ${TO} with 2 parameters (spender: ${SPENDER}`);
  });

  it('says where calls cannot be read, and what the bytes mention', () => {
    const mentioned = 'ITS OTHER BYTES MENTION approve(address,uint256)';
    const odd = `${encode('multicall(bytes[])', [approve])}00`;
    const encoded = 'NOT ENCODED CANONICALLY: 1 byte after its parameters';
    expect(carriedLines(odd)).toEqual([encoded, 'CARRIES CALLS THAT CANNOT BE READ', mentioned]);
    expect(carriedLines(`0x12345678${approve.slice(2)}`)).toEqual([mentioned]);
    expect(carriedLines(aggregate([TO, 0n, odd])).slice(1)).toEqual([
      `1. ${encoded}`,
      '1. CARRIES CALLS THAT CANNOT BE READ',
      `1. ${mentioned}`,
    ]);
    expect(carriedLines('0xd0e30db0')).toEqual([]);
  });

  it('names a function that is encoded oddly, with what can be read', () => {
    const note = 'note(bytes,string,uint8)';
    const declared = `function ${note}`;
    const policy = aCallPolicy([aRule(TO, { selectors: [note] })]);
    const data = encodeFunctionData({
      abi: parseAbi([declared] as readonly string[]),
      args: ['0x01', 'n'.repeat(400), 3],
    } as never);
    const odd = `${data.slice(0, 10 + 64 * 4)}${'ff'.repeat(32)}${data.slice(10 + 64 * 5)}`;
    const carried = nestedCallsOf({ to: TO, value: 0n, data: odd });
    const content = contentOf({ data: odd });
    const lines = summaryOf({
      ...facts({ calldata: odd }),
      policy,
      content,
      nested: carried,
      tokens: () => null,
    }).split('\n');
    expect(lines).toEqual([
      `Call note of ${TO} with 3 parameters`,
      FROM,
      'NOT ENCODED CANONICALLY: parameter 1: cannot be read',
      '1: cannot be read',
      expect.stringMatching(/^2: "n+"… \(400 characters\)$/),
      '3: 3',
    ]);
    for (const line of lines) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(252);
  });

  it('keeps within its lines however much of a call is odd', () => {
    const signature = `many(${Array.from({ length: 60 }, () => 'bytes').join(',')})`;
    const data = `${selectorOf(signature)}00`;
    const carried = nestedCallsOf({ to: TO, value: 0n, data });
    const summary = summaryOf({
      ...facts({ calldata: data }),
      policy: aCallPolicy([aRule(TO, { selectors: [signature] })]),
      content: contentOf({ data }),
      nested: carried,
      tokens: () => null,
    });
    expect(summary).toContain(`Call many of ${TO} with 60 parameters\n`);
    expect(summary).toMatch(/NOT ENCODED CANONICALLY: parameter 1: cannot be read, /);
    expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(2_000);
    for (const line of summary.split('\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(252);
  });

  it('counts those for which there is no room', () => {
    const most = 2n ** 256n - 1n;
    const many = Array.from({ length: 200 }, (): [string, bigint, string] => [TO, most, '0xdeadbeef']);
    const lines = carriedLines(aggregate(...many, [TO, most, approve]));
    expect(lines[0]).toMatch(/^201\. RESTRICTED: Call approve of .*, together with \d{60}\.\d{17,18} "ETH"/);
    expect(lines.at(-1)).toMatch(/^\d of 202 shown: the calldata has all$/);
  });
});

describe('every transaction', () => {
  const amount = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n });
  const decimals = fc.integer({ min: 0, max: 255 });

  /** What is sent, native currency or a token, and what is known about it. */
  function sent(name: string, symbol: string, value: bigint, places: number, native: boolean) {
    const token = { symbol, name, decimals: places, logoUrl: null };
    const content = contentOf(native ? { value } : { data: transferData(RECIPIENT, value) });
    const known = facts({
      account: { name, address: ACCOUNT },
      network: native ? { ...network, nativeAsset: { ...token, decimals: 18 } } : network,
      token: native ? null : token,
    });
    return { content, known };
  }

  it('is two plain lines, in which amounts and addresses stand whole', () => {
    fc.assert(
      fc.property(
        policyName,
        policyName,
        amount,
        decimals,
        fc.boolean(),
        (name, symbol, value, of, native) => {
          const { content, known } = sent(name, symbol, value, of, native);
          const summary = transactionSummary(content, known);
          const [what = '', from, ...more] = summary.split('\n');
          expect(summary.replace('\n', '')).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
          expect(Buffer.byteLength(what)).toBeLessThanOrEqual(252);
          const shown = displayAmount(String(value), native ? 18 : of);
          const raw = `Send ${value} raw units of the token ${TO}`;
          expect(what.startsWith(shown.length <= 80 ? `Send ${shown} "` : raw)).toBe(true);
          expect(what.endsWith(` to ${native ? TO : RECIPIENT}`)).toBe(true);
          expect(from).toContain(`From the account ${quotedName(name)} (${ACCOUNT}) on `);
          expect(more).toEqual([]);
          const destination = native ? TO : RECIPIENT;
          expect(transactionData(content, known)).toMatchObject({ rawAmount: String(value), destination });
        },
      ),
    );
  });

  it('is said in at most two thousand bytes, on lines that a device shows whole, whatever its texts', () => {
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
        expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(2_000);
        for (const line of summary.split('\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(252);
        expect(summary.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
});
