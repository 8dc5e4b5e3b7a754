/** @deep */
import type { Schema } from '@orgwallet/client';
import fc from 'fast-check';
import {
  type AbiParameter,
  bytesToHex,
  encodeFunctionData,
  getAddress,
  type Hex,
  numberToHex,
  parseAbi,
} from 'viem';
import { checkCallLines } from '../../../console/src/contract/callLines.ts';
import { checkDecoded } from '../../../console/src/domain/decodedCall.ts';
import { readCall } from '../../../src/chain/decode';
import { selectorOf, standardFunctions } from '../../../src/chain/functions';
import { nestedCallsOf } from '../../../src/chain/nestedCalls';
import type { Policy } from '../../../src/domain/policy';
import { readContent } from '../../../src/domain/transactionContent';
import { summaryOf } from '../../../src/transactions/summary';
import { anAddress, anId } from '../../support/builders';
import { DEEP } from '../../support/suite';
import { aPolicy } from '../../support/transactions';

const payee = getAddress(anAddress());
const ABI = parseAbi([
  'function pay((address to, uint256[] amounts)[] list, bool now, string note, bytes4 tag, int8 by)',
  'function claim()',
]);
const SIGNATURES = ['pay((address,uint256[])[],bool,string,bytes4,int8)', 'claim()'];
const PAY = encodeFunctionData({
  abi: ABI,
  functionName: 'pay',
  args: [[{ to: payee, amounts: [1n, 2n] }], true, 'a, "b"', '0x01020304', -3],
});
const CLAIM = encodeFunctionData({ abi: ABI, functionName: 'claim' });

const aByte = fc.stringMatching(/^[0-9a-f]{2}$/);

/** Whatever a parameter of that type can be. */
function anyArgument(parameter: AbiParameter): fc.Arbitrary<unknown> {
  const { type } = parameter;
  const [, element, length] = /^(.*)\[(\d*)\]$/.exec(type) ?? [];
  if (element !== undefined) {
    const size = length ? { minLength: Number(length), maxLength: Number(length) } : { maxLength: 3 };
    return fc.array(anyArgument({ ...parameter, type: element }), size);
  }
  if (type === 'tuple') {
    const { components } = parameter as { readonly components: readonly AbiParameter[] };
    return fc
      .tuple(...components.map(anyArgument))
      .map((values) => Object.fromEntries(components.map(({ name }, i) => [name ?? i, values[i]])));
  }
  const [, kind, digits] = /^([a-z]+)(\d*)$/.exec(type) ?? [];
  const bits = BigInt(digits || 256);
  switch (kind) {
    case 'bool':
      return fc.boolean();
    case 'string':
      return fc.string({ unit: 'binary' });
    case 'address':
      return fc.bigInt(0n, 2n ** 160n - 1n).map((value) => numberToHex(value, { size: 20 }));
    case 'uint':
      return fc.bigInt(0n, 2n ** bits - 1n);
    case 'int':
      return fc.bigInt(-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n);
    case 'bytes': {
      const size = digits ? { minLength: Number(digits), maxLength: Number(digits) } : {};
      return fc.uint8Array(size).map((bytes) => bytesToHex(bytes));
    }
    default:
      throw new Error(`no values of ${type}`);
  }
}

/** A call as the service decodes it. */
const decoded = (calldata: Hex, change: object = {}) =>
  ({ calldata, ...readCall(calldata, SIGNATURES), ...change }) as Schema['ContractInteractionData'];
const refusal = expect.objectContaining({ code: 'payloadMismatch', field: 'message.data' });

describe('a decoded call', () => {
  it('is what the service decodes, or not decoded at all', () => {
    for (const calldata of [PAY, CLAIM]) {
      expect(decoded(calldata).functionName).toBeDefined();
      checkDecoded(decoded(calldata));
    }
    checkDecoded(decoded('0x12345678'));
  });

  const MARK = 'mark(address,bool)';
  const marked = `${selectorOf(MARK)}${'ab'.repeat(12)}${payee.slice(2).toLowerCase()}${'1'.padStart(64, '0')}00ff`;
  const odd = (change: object = {}) =>
    ({ calldata: marked, ...readCall(marked, [MARK]), ...change }) as Schema['ContractInteractionData'];

  it('whose encoding is not canonical is read with what is odd', () => {
    expect(odd()).toMatchObject({
      functionName: 'mark',
      functionParameters: [{ value: payee }, { value: 'true' }],
      encodingFaults: ['2 bytes after its parameters', 'parameter 1: 12 bytes that should be zero'],
    });
    checkDecoded(odd());
  });

  const NOTE = 'note(bytes,string,uint8)';
  const [FIRST, SECOND] = ['0x01', 'two'];
  const noted = encodeFunctionData({
    abi: parseAbi([`function ${NOTE}`]),
    functionName: 'note',
    args: [FIRST as Hex, SECOND, 3],
  });
  /** The call with a word of its parameters replaced. */
  const withWord = (index: number, word: string): Hex => {
    const at = 10 + 64 * index;
    return `${noted.slice(0, at)}${word}${noted.slice(at + 64)}` as Hex;
  };
  const noteOf = (calldata: string, change: object = {}) =>
    ({ calldata, ...readCall(calldata, [NOTE]), ...change }) as Schema['ContractInteractionData'];
  const UNREAD = { value: '', unread: true };

  it.each<[string, string, object[], string[]]>([
    [
      'a dynamic one',
      withWord(4, 'ff'.repeat(32)),
      [UNREAD, { value: SECOND }, { value: '3' }],
      ['parameter 1: cannot be read'],
    ],
    [
      'an offset',
      withWord(1, 'ff'.repeat(32)),
      [{ value: FIRST }, UNREAD, { value: '3' }],
      ['parameter 2: cannot be read'],
    ],
    [
      'a gap',
      `${withWord(1, 'c0'.padStart(64, '0')).slice(0, 10 + 64 * 5)}${'00'.repeat(32)}${noted.slice(10 + 64 * 5)}`,
      [{ value: FIRST }, { value: SECOND }, { value: '3' }],
      ['parameter 2: begins at byte 192, not 160'],
    ],
    [
      'an end',
      noted.slice(0, 10 + 64 * 2),
      [UNREAD, UNREAD, UNREAD],
      [1, 2, 3].map((i) => `parameter ${i}: cannot be read`),
    ],
  ])('with %s that is odd shows its other parameters', (_, calldata, functionParameters, encodingFaults) => {
    const read = noteOf(calldata);
    expect(read).toMatchObject({ functionName: 'note', functionParameters, encodingFaults });
    checkDecoded(read);
  });

  it('is refused where a parameter that can be read is said to be unread', () => {
    for (const calldata of [noted, `${noted}00`]) {
      const { functionParameters = [] } = noteOf(calldata);
      const lie = noteOf(calldata, {
        functionParameters: functionParameters.map((one) => ({ ...one, ...UNREAD })),
        encodingFaults: [1, 2, 3].map((i) => `parameter ${i}: cannot be read`),
      });
      expect(() => checkDecoded(lie)).toThrow(refusal);
    }
  });

  it('is refused where a parameter is shown that cannot be read', () => {
    const { encodingFaults, ...read } = noteOf(withWord(4, 'ff'.repeat(32)));
    expect(encodingFaults).toHaveLength(1);
    const functionParameters = (read.functionParameters ?? []).map(({ name, type, value }) => ({
      name,
      type,
      value: value || FIRST,
    }));
    expect(() => checkDecoded({ ...read, functionParameters })).toThrow(refusal);
  });

  it('is read from damaged bytes as the service reads it', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 3 });
    const intact = fc.constantFrom<[string, string]>(
      [PAY, SIGNATURES[0] ?? ''],
      [marked, MARK],
      [noted, NOTE],
    );
    fc.assert(
      fc.property(intact, damage, fc.integer({ min: -64, max: 64 }), ([calldata, signature], spots, more) => {
        const bytes = Buffer.concat([Buffer.from(calldata.slice(10), 'hex'), Buffer.alloc(64)]);
        for (const [at, value] of spots) bytes[at % bytes.length] = value;
        const damaged = `${calldata.slice(0, 10)}${bytes.subarray(0, bytes.length - 64 + more).toString('hex')}`;
        const read = { calldata: damaged, ...readCall(damaged, [signature]) };
        expect(read.functionName).toBeDefined();
        checkDecoded(read as Schema['ContractInteractionData']);
      }),
      { numRuns: DEEP ? 2_000 : 200 },
    );
  });

  it.each<[string, object]>([
    ['none', { encodingFaults: undefined }],
    ['fewer', { encodingFaults: ['2 bytes after its parameters'] }],
    [
      'other ones',
      { encodingFaults: ['3 bytes after its parameters', 'parameter 1: 12 bytes that should be zero'] },
    ],
  ])('of which the service reports %s of what is odd is refused', (_, change) => {
    expect(() => checkDecoded(odd(change))).toThrow(refusal);
  });

  const VALUES = 'set(bool,uint256,uint256,(address,uint256),bool[])';
  const set = encodeFunctionData({
    abi: parseAbi([`function ${VALUES}`]),
    functionName: 'set',
    args: [false, 0n, 1_000n, [payee, 1_000n], [false]],
  });
  const setOf = (change: object = {}) =>
    ({ calldata: set, ...readCall(set, [VALUES]), ...change }) as Schema['ContractInteractionData'];

  it.each<[string, number, string]>([
    ['a boolean that is not written as one', 0, 'True'],
    ['no number', 1, ''],
    ['a hexadecimal number', 2, '0x3e8'],
    ['a number with spaces', 2, ' 1000'],
    ['a number with zeros before it', 2, '01000'],
    ['a tuple with more in it', 3, JSON.stringify([payee, '1000', '5'])],
    ['a number of JSON', 3, `["${payee}",1e3]`],
    ['a list with spaces', 4, '[ false]'],
  ])('that says the same in another text (%s) is refused', (_, index, value) => {
    checkDecoded(setOf());
    const functionParameters = setOf().functionParameters?.map((one, i) =>
      i === index ? { ...one, value } : one,
    );
    expect(() => checkDecoded(setOf({ functionParameters }))).toThrow(refusal);
  });

  it.each([
    ['another function', decoded(PAY, { functionName: 'vote' })],
    ['another function without parameters', decoded(CLAIM, { functionName: 'vote' })],
    ['a function of calldata that nobody knows', decoded('0x12345678', { functionName: 'claim' })],
    [
      'parameters without a function',
      decoded('0x12345678', { functionParameters: [{ name: 'to', type: 'address', value: payee }] }),
    ],
    ['fewer parameters', decoded(PAY, { functionParameters: [] })],
    ...[JSON.stringify([[payee, ['1', '3']]]), 'false', 'a, b', '0x01020305', '3'].map(
      (value, i): [string, Schema['ContractInteractionData']] => [
        `another argument ${i}`,
        decoded(PAY, {
          functionParameters: decoded(PAY).functionParameters?.map((one, at) =>
            at === i ? { ...one, value } : one,
          ),
        }),
      ],
    ),
  ])('that has %s is refused', (_, data) => {
    expect(() => checkDecoded(data)).toThrow(refusal);
  });

  it.each([
    'send 5 USDC to Alice',
    'claim() of 0x1111111111111111111111111111111111111111, not mint',
    'm\u200bint',
    '',
  ])('with the function %j, which no contract has, is refused', (functionName) => {
    const calldata = `${selectorOf(`${functionName}(uint256)`)}${'1'.padStart(64, '0')}`;
    const functionParameters = [{ name: '', type: 'uint256', value: '1' }];
    const call = { calldata, functionName, functionParameters } as Schema['ContractInteractionData'];
    expect(() => checkDecoded(call)).toThrow(refusal);
  });

  it.each(['amount: 5, to', 'to (0x1111…2222), and', 'a\u202eb'])(
    'with a parameter called %j, which no contract has, is refused',
    (name) => {
      const functionParameters = setOf().functionParameters?.map((one) => ({ ...one, name }));
      expect(() => checkDecoded(setOf({ functionParameters }))).toThrow(refusal);
    },
  );
});

describe('the lines that are signed of a call', () => {
  const [contract, treasury] = [getAddress(anAddress()), getAddress(anAddress())];
  const MULTICALL = 'multicall(bytes[])';
  const LONG = 'list(uint256[],string[])';
  const abi = parseAbi([`function ${MULTICALL}`, `function ${LONG}`]);
  const many = encodeFunctionData({ abi, functionName: 'multicall', args: [[CLAIM, PAY, '0x12345678']] });
  const long = encodeFunctionData({
    abi,
    functionName: 'list',
    args: [Array<bigint>(50).fill(7n), Array<string>(30).fill('a\n"b"')],
  });

  /** A call, with the lines that the service makes of it. */
  function aCall(calldata: string, signatures: string[], replaces: string | null = null) {
    const value = calldata === '0x' ? 0n : 1n;
    const call = { to: contract, value, data: calldata };
    const content = readContent(call, getAddress);
    if (!content.ok || content.value.type !== 'CONTRACT_INTERACTION') throw new Error('not a call');
    const words = readCall(calldata, signatures);
    const asked = { content: content.value, calldata, nested: nestedCallsOf(call) };
    const summary = summaryOf(
      {
        ...asked,
        policy: {
          ...aPolicy(),
          transactionType: 'CONTRACT_INTERACTION',
          contractInteractionCondition: [
            { contractAddress: contract, allowedFunctions: signatures, functions: [], maxValue: '1' },
          ],
        } as Policy,
        tokens: () => null,
        network: { id: 1, name: 'Ethereum', nativeAsset: { symbol: 'ETH', name: 'Ether', decimals: 18 } },
        account: { name: 'Treasury', address: treasury },
        replaces,
      },
      words,
    );
    const data = { toAddress: contract, calldata, networkId: 1, value: String(value), ...words };
    return { summary, data: data as Schema['ContractInteractionData'], ...(replaces ? { replaces } : {}) };
  }
  const MARK = 'mark(address,bool)';
  const odd = `${selectorOf(MARK)}${'ab'.repeat(12)}${payee.slice(2).toLowerCase()}${'1'.padStart(64, '0')}00ff`;
  const calls: [string, string, string[]][] = [
    ['a decoded one', PAY, SIGNATURES],
    ['one without parameters', CLAIM, SIGNATURES],
    ['one of a function that is not known', PAY, []],
    ['one without calldata', '0x', []],
    ['one of fewer than 4 bytes', '0x1234', []],
    ['one that carries others', many, SIGNATURES],
    ['one with long values', long, [LONG]],
    ['one that is not encoded canonically', odd, [MARK]],
  ];

  it.each(calls)('are those of %s', (_, calldata, signatures) => {
    checkCallLines(aCall(calldata, signatures));
    checkCallLines(aCall(calldata, signatures, anId('txn')));
  });

  it('are those of any call of a known function, encoded canonically or not', () => {
    const known = [...standardFunctions().values()].filter(
      ({ signature }) => signature !== 'transfer(address,uint256)',
    );
    const anyCall = fc.constantFrom(...known).chain(({ abi: declared }) =>
      fc
        .tuple(fc.tuple(...declared.inputs.map(anyArgument)), fc.option(fc.tuple(fc.nat(), aByte)))
        .map(([args, changed]) => {
          const data = encodeFunctionData({ abi: [declared], args } as never);
          if (changed === null || data.length < 12) return data;
          const [at, byte] = [10 + 2 * (changed[0] % (data.length / 2 - 5)), changed[1]];
          return `${data.slice(0, at)}${byte}${data.slice(at + 2)}`;
        }),
    );
    fc.assert(
      fc.property(anyCall, (calldata) => {
        const one = aCall(calldata, []);
        checkCallLines(one);
        checkDecoded(one.data);
      }),
      { numRuns: DEEP ? 5_000 : 150 },
    );
  });

  it('are the first of those for which there is no room', () => {
    const wide = `wide(${Array<string>(100).fill('uint256').join(',')})`;
    const one = aCall(`${selectorOf(wide)}${'f'.repeat(6_400)}`, [wide]);
    expect(one.summary).toMatch(/\d+ of 100 shown: the calldata has all$/);
    checkCallLines(one);
    const lied = one.summary.replace(/\n5: .*/, '\n5: 1');
    expect(() => checkCallLines({ ...one, summary: lied })).toThrow(
      expect.objectContaining({ field: 'message.summary' }),
    );
  });

  it.each<[string, string, string[], (summary: string) => string]>([
    ['another function', PAY, SIGNATURES, (text) => text.replace('Call pay', 'Call refund')],
    ['another number of parameters', PAY, SIGNATURES, (text) => text.replace('5 parameters', '4 parameters')],
    ['another argument', PAY, SIGNATURES, (text) => text.replace('2: true', '2: false')],
    ['an argument less', PAY, SIGNATURES, (text) => text.replace('\n2: true', '')],
    ['an argument more', PAY, SIGNATURES, (text) => `${text}\n6: 7`],
    [
      'a call that it cannot carry',
      CLAIM,
      SIGNATURES,
      (text) => `${text}\n1. Call refund of ${payee} without parameters`,
    ],
    [
      'a function that is not known there',
      PAY,
      [],
      (text) => text.replace(/the unknown function 0x\w{8}/, 'refund'),
    ],
    ['another selector', PAY, [], (text) => text.replace(/function 0x\w{8}/, 'function 0x12345678')],
    ['another size', PAY, [], (text) => text.replace(/with \d+ bytes/, 'with 4 bytes')],
    ['canonical encoding', odd, [MARK], (text) => text.replace(/\nNOT ENCODED.*/, '')],
  ])('are refused with %s', (_, calldata, signatures, lie) => {
    const one = aCall(calldata, signatures);
    const summary = lie(one.summary);
    expect(summary).not.toBe(one.summary);
    expect(() => checkCallLines({ ...one, summary })).toThrow(
      expect.objectContaining({ code: 'payloadMismatch', field: 'message.summary' }),
    );
  });
});
