/** @deep */
import fc from 'fast-check';
import { type AbiParameter, decodeAbiParameters, encodeAbiParameters, getAddress, type Hex } from 'viem';
import { decodeCall, restrictedEncodingFault } from '../../../src/chain/decode';
import { selectorOf } from '../../../src/chain/functions';
import { anAddress } from '../../support/builders';
import { DEEP } from '../../support/suite';

const word = (value: bigint | number) => BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0');
const calling = (signature: string, ...words: string[]) => `${selectorOf(signature)}${words.join('')}`;

function valuesOf(signature: string, ...words: string[]): readonly string[] | null {
  return (
    decodeCall(calling(signature, ...words), [signature])?.functionParameters.map(({ value }) => value) ??
    null
  );
}

describe('a call of a function', () => {
  const to = anAddress();
  const mint = calling('mint(address,uint256)', word(BigInt(to)), word(5));

  it('that a standard knows is decoded with the names of its parameters', () => {
    const decoded = {
      functionName: 'mint',
      functionParameters: [
        { name: 'to', type: 'address', value: to },
        { name: 'value', type: 'uint256', value: '5' },
      ],
    };
    expect(decodeCall(mint, [])).toEqual(decoded);
    expect(decodeCall(mint.toUpperCase().replace('0X', '0x'), [])).toEqual(decoded);
    expect(decodeCall(mint, ['mint(address,uint256)'])).toEqual(decoded);
    expect(decodeCall(mint, ['0x40c10f19'])).toEqual(decoded);
  });

  it('that only the policy names is decoded without them', () => {
    const signature = 'pay(address,(uint256,bool)[])';
    const calldata = calling(signature, word(BigInt(to)), word(64), word(1), word(7), word(1));
    expect(decodeCall(calldata, ['other()', '0x12345678', signature])).toEqual({
      functionName: 'pay',
      functionParameters: [
        { name: '', type: 'address', value: to },
        { name: '', type: '(uint256,bool)[]', value: '[["7",true]]' },
      ],
    });
    expect(decodeCall(calldata, [])).toBeNull();
    expect(decodeCall(calldata, [selectorOf(signature)])).toBeNull();
  });

  it('without parameters is decoded', () => {
    expect(decodeCall('0xd0e30db0', [])).toEqual({ functionName: 'deposit', functionParameters: [] });
    expect(decodeCall('0xd0e30db000', [])).toBeNull();
  });

  it.each(['0x', '0x40', '0x40c10f', '0x12345678', '0x40c10f19'])('is not decoded: %s', (calldata) => {
    expect(decodeCall(calldata, ['mint(address,uint256)'])).toBeNull();
  });

  it.each<[string, string]>([
    ['one byte more', `${mint}00`],
    ['one byte less', mint.slice(0, -2)],
    ['one word more', `${mint}${word(0)}`],
    ['a dirty address', mint.replace('f19000', 'f19001')],
  ])('is not decoded with %s', (_, calldata) => {
    expect(calldata).not.toBe(mint);
    expect(decodeCall(calldata, [])).toBeNull();
  });

  it.each<[string, bigint | number, string]>([
    ['uint8', 255, '255'],
    ['uint256', 2n ** 256n - 1n, String(2n ** 256n - 1n)],
    ['int8', -128, '-128'],
    ['int256', -(2n ** 255n), String(-(2n ** 255n))],
    ['bool', 0, 'false'],
    ['bool', 1, 'true'],
    ['bytes1', 0xffn << 248n, '0xff'],
    ['bytes32', 1, `0x${word(1)}`],
    ['function', 1n << 64n, `0x${'0'.repeat(47)}1`],
  ])('shows %s of %s as %s', (type, value, shown) => {
    expect(valuesOf(`f(${type})`, word(value))).toEqual([shown]);
  });

  it.each<[string, bigint | number]>([
    ['uint8', 256],
    ['uint248', 2n ** 248n],
    ['int8', 128],
    ['int8', -129],
    ['bool', 2],
    ['bool', 256],
    ['bytes1', 1],
    ['address', 1n << 160n],
    ['function', 1],
  ])('is not decoded where %s holds %s', (type, value) => {
    expect(valuesOf(`f(${type})`, word(value))).toBeNull();
  });

  it('shows a text as it is, and no text that is none', () => {
    const text = (bytes: Buffer) =>
      valuesOf(
        'f(string)',
        word(32),
        word(bytes.length),
        bytes.toString('hex').padEnd(Math.ceil(bytes.length / 32) * 64, '0'),
      );
    const words = '"Grüße",\n\u202e\ufeff 😀'.repeat(20);
    expect(text(Buffer.from(words))).toEqual([words]);
    expect(text(Buffer.from(''))).toEqual(['']);
    expect(text(Buffer.from([0xff]))).toBeNull();
    expect(text(Buffer.from([0xed, 0xa0, 0x80]))).toBeNull();
    expect(text(Buffer.from('a\0b'))).toBeNull();
  });

  it('is not decoded where a value does not stand behind the one before it', () => {
    const signature = 'f(bytes,bytes)';
    const [one, two] = [`${word(1)}aa${'0'.repeat(62)}`, `${word(1)}bb${'0'.repeat(62)}`];
    expect(valuesOf(signature, word(64), word(128), one, two)).toEqual(['0xaa', '0xbb']);
    expect(valuesOf(signature, word(64), word(64), one)).toBeNull();
    expect(valuesOf(signature, word(128), word(64), one, two)).toBeNull();
    expect(valuesOf(signature, word(96), word(160), word(0), one, two)).toBeNull();
    expect(valuesOf(signature, word(64), word(2n ** 255n), one, two)).toBeNull();
    expect(valuesOf(signature, word(64), word(128), one, `${word(1)}bb${'0'.repeat(61)}1`)).toBeNull();
  });
});

const elementary = fc.oneof(
  fc.constantFrom('address', 'bool', 'bytes', 'string'),
  fc.integer({ min: 1, max: 32 }).map((width) => `bytes${width}`),
  fc.tuple(fc.constantFrom('uint', 'int'), fc.integer({ min: 1, max: 32 })).map(([k, n]) => `${k}${n * 8}`),
);
/** A type as the ABI library takes it. */
const { type } = fc.letrec<{ type: AbiParameter; tuple: AbiParameter; array: AbiParameter }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 3 },
    elementary.map((name) => ({ name: '', type: name })),
    tie('tuple'),
    tie('array'),
  ),
  tuple: fc
    .array(tie('type'), { minLength: 1, maxLength: 3 })
    .map((components) => ({ name: '', type: 'tuple', components })),
  array: fc
    .tuple(tie('type'), fc.option(fc.integer({ min: 1, max: 3 })))
    .map(([of, length]) => ({ ...of, type: `${of.type}[${length ?? ''}]` })),
}));

function canonical(parameter: AbiParameter): string {
  if (!('components' in parameter)) return parameter.type;
  return parameter.type.replace('tuple', `(${parameter.components.map(canonical).join(',')})`);
}

/** A value as the ABI library takes it, beside what is shown of it. */
function valuesFor(parameter: AbiParameter): fc.Arbitrary<[unknown, unknown]> {
  const { type: name } = parameter;
  const array = /^(.*)\[([0-9]*)\]$/.exec(name);
  if (array) {
    const of = { ...parameter, type: array[1] ?? '' } as AbiParameter;
    const size =
      array[2] === '' ? { maxLength: 3 } : { minLength: Number(array[2]), maxLength: Number(array[2]) };
    return fc.array(valuesFor(of), size).map((items) => [items.map(([v]) => v), items.map(([, s]) => s)]);
  }
  if ('components' in parameter) {
    return fc
      .tuple(...parameter.components.map(valuesFor))
      .map((items) => [items.map(([v]) => v), items.map(([, s]) => s)]);
  }
  const bytes = (minLength: number, maxLength: number) =>
    fc
      .uint8Array({ minLength, maxLength })
      .map((found): [unknown, unknown] => [
        `0x${Buffer.from(found).toString('hex')}`,
        `0x${Buffer.from(found).toString('hex')}`,
      ]);
  const [, kind, digits] = /^([a-z]+)([0-9]*)$/.exec(name) ?? [];
  const bits = BigInt(digits || 0);
  switch (kind) {
    case 'address':
      return bytes(20, 20).map(([v]) => [v, getAddress(v as Hex)]);
    case 'bool':
      return fc.boolean().map((v) => [v, v]);
    case 'string':
      return fc
        .string({ unit: 'binary', maxLength: 40 })
        .filter((text) => !text.includes('\0'))
        .map((v) => [v, v]);
    case 'bytes':
      return digits === '' ? bytes(0, 70) : bytes(Number(digits), Number(digits));
    case 'uint':
      return fc.bigInt({ min: 0n, max: 2n ** bits - 1n }).map((v) => [v, String(v)]);
    default:
      return fc
        .bigInt({ min: -(2n ** (bits - 1n)), max: 2n ** (bits - 1n) - 1n })
        .map((v) => [bits > 48n ? v : Number(v), String(v)]);
  }
}

const call = fc.array(type, { maxLength: 4 }).chain((parameters) =>
  fc.tuple(...parameters.map(valuesFor)).map((values) => {
    const signature = `f(${parameters.map(canonical).join(',')})`;
    const given = values.map(([value]) => value);
    // The library takes small numbers as numbers.
    const encoded = encodeAbiParameters(parameters, given as never);
    return { parameters, signature, encoded, shown: values.map(([, shown]) => shown) };
  }),
);

describe('every call', () => {
  it('is shown as it was encoded', () => {
    fc.assert(
      fc.property(call, ({ parameters, signature, encoded, shown }) => {
        const decoded = decodeCall(`${selectorOf(signature)}${encoded.slice(2)}`, [signature]);
        expect(decoded).toEqual({
          functionName: 'f',
          functionParameters: parameters.map((parameter, i) => ({
            name: '',
            type: canonical(parameter),
            value: typeof shown[i] === 'string' ? shown[i] : JSON.stringify(shown[i]),
          })),
        });
      }),
      { numRuns: DEEP ? 1_000 : 60 },
    );
  });

  it('that is decoded comes out the same when it is encoded again, and any other is not decoded', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 3 });
    fc.assert(
      fc.property(
        call,
        damage,
        fc.integer({ min: -33, max: 33 }),
        ({ parameters, signature, encoded }, spots, more) => {
          const bytes = Buffer.from(encoded.slice(2), 'hex');
          for (const [at, value] of spots) if (bytes.length > 0) bytes[at % bytes.length] = value;
          const length = Math.max(0, bytes.length + (more % 3 === 0 ? more : 0));
          const hex: Hex = `0x${Buffer.concat([bytes, Buffer.alloc(40)])
            .subarray(0, length)
            .toString('hex')}`;
          const again = () => {
            try {
              return encodeAbiParameters(parameters, decodeAbiParameters(parameters, hex) as never);
            } catch {
              return 'nothing';
            }
          };
          const decoded = decodeCall(`${selectorOf(signature)}${hex.slice(2)}`, [signature]);
          const same = parameters.length === 0 ? hex === '0x' : again() === hex;
          expect(decoded !== null).toBe(same && !hasZeroText(parameters, hex));
        },
      ),
      { numRuns: DEEP ? 2_000 : 100 },
    );
  });
});

/** Whether a decoded text has the one character that is not shown. */
function hasZeroText(parameters: readonly AbiParameter[], hex: Hex): boolean {
  const within = (value: unknown): boolean =>
    typeof value === 'string'
      ? value.includes('\0')
      : typeof value === 'object' && value !== null && Object.values(value).some(within);
  return hex !== '0x' && within(decodeAbiParameters(parameters, hex));
}

describe('calldata that is made to cost much', () => {
  const FULL = 131_072;

  // What follows them without a bound does not end, or ends with the memory: no clock is needed.
  it.each<[string, string, string[]]>([
    ['with offsets that all lead to one place', `f(uint256[]${'[]'.repeat(5)})`, Array(4_000).fill(word(32))],
    ['with a length beyond all bytes', 'f(uint256[])', [word(32), word(2n ** 255n)]],
    ['with a length of all bytes', 'f(uint256[])', [word(32), word(FULL)]],
    ['with a huge fixed array', 'f(uint256[999999999999999999])', [word(1)]],
    ['with a fixed array beyond all numbers', `f(uint256[${'9'.repeat(900)}])`, [word(1)]],
    ['with an empty list of such', `f(uint256[${'9'.repeat(900)}][])`, [word(32), word(0)]],
    ['with empty tuples', 'f(()[])', [word(32), word(2 ** 30)]],
    ['with many empty tuples', 'f(()[999999999][999999999])', []],
    ['with fixed arrays in fixed arrays', `f(uint8${'[9]'.repeat(300)})`, Array(4_000).fill(word(1))],
  ])('is given up at once: %s', (_, signature, words) => {
    expect(valuesOf(signature, ...words)).toBeNull();
  });

  it('is decoded where it is plain, and not too long to show', () => {
    const count = FULL / 32 - 3;
    const list = Array.from({ length: count }, (_, i) => word(BigInt(i + 1) << 80n));
    const shown = valuesOf('f(address[])', word(32), word(count), ...list);
    expect(JSON.parse(shown?.[0] ?? '')).toHaveLength(count);
    const deep = `f(uint256${'[1]'.repeat(300)}[])`;
    // Shown, it would be thirty times as long as the calldata.
    expect(valuesOf(deep, word(32), word(count), ...list)).toBeNull();
    expect(valuesOf(deep, word(32), word(1), word(7))).toEqual([`[${'['.repeat(300)}"7"${']'.repeat(300)}]`]);
  });
});

describe('calldata of a restricted function', () => {
  const spender = '11'.repeat(20);
  const approve = `0x095ea7b3${'00'.repeat(12)}${spender}${'ff'.repeat(32)}`;
  const multicall = `0xac9650d8${'20'.padStart(64, '0')}${'0'.repeat(64)}`;

  it.each<[string, string]>([
    ['a byte more', `${approve}00`],
    ['a byte less', approve.slice(0, -2)],
    ['a dirty address', approve.replace('000000', '000001')],
    ['its selector alone', approve.slice(0, 10)],
    ['another offset', multicall.replace('20', '40')],
    ['upper case', `0x${approve.slice(2).toUpperCase()}00`],
  ])('is refused with %s', (_, calldata) => {
    expect(restrictedEncodingFault(calldata)).toMatch(
      /^calls the restricted function \w+\(.+\) and must then be /,
    );
  });

  it.each<[string, string]>([
    ['is canonical', approve],
    ['carries nothing', multicall],
    ['is of another function', `0xd0e30db000`],
    ['is of an unknown function', `0x1234567800`],
    ['is none', '0x'],
  ])('is accepted where it %s', (_, calldata) => {
    expect(restrictedEncodingFault(calldata)).toBeNull();
  });
});
