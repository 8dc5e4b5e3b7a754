import fc from 'fast-check';
import { hashTypedData as portableHash } from 'viem';
import { hashTypedData, hashTypedPayload } from '../../../src/chain/typedData';

const payloadOf = (text: string) =>
  JSON.stringify({
    types: { Note: [{ name: 'text', type: 'string' }] },
    primaryType: 'Note',
    domain: {},
    message: { text },
  });
const digestOf = (payload: string) => portableHash(JSON.parse(payload));

it('is the digest of the payload, the first time and again, however many there are and however long they are', () => {
  const short = Array.from({ length: 1_100 }, (_, index) => payloadOf(`note ${index}`));
  const long = ['a', 'b'].map((end) => payloadOf('x'.repeat(20_000) + end));
  const payloads = [...short, ...long];
  for (const payload of [...payloads, ...payloads]) expect(hashTypedPayload(payload)).toBe(digestOf(payload));
});

it('is computed once, also of a long payload', () => {
  const payload = payloadOf('y'.repeat(260_000));
  const digest = digestOf(payload);
  const parse = jest.spyOn(JSON, 'parse');
  try {
    for (let time = 0; time < 3; time += 1) expect(hashTypedPayload(payload)).toBe(digest);
    expect(parse).toHaveBeenCalledTimes(1);
  } finally {
    parse.mockRestore();
  }
});

it('throws each time for what is not typed data', () => {
  for (const payload of ['', '{}', '', '{}']) expect(() => hashTypedPayload(payload)).toThrow();
});

/** Values of each kind of type, as JSON has them. */
const VALUES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  string: fc.string({ unit: 'binary', maxLength: 300 }),
  bytes: hex(0, 600),
  bytes32: hex(32, 32),
  bytes4: hex(4, 4),
  address: hex(20, 20),
  bool: fc.boolean(),
  uint8: fc.integer({ min: 0, max: 255 }),
  uint256: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String),
  int64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
};

function hex(minLength: number, maxLength: number) {
  return fc.uint8Array({ minLength, maxLength }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);
}

interface Typed {
  readonly type: string;
  readonly value: unknown;
}

const typedValue = fc.constantFrom(...Object.keys(VALUES)).chain((type) => {
  const one = VALUES[type] ?? fc.constant(null);
  const list = fc.array(one, { maxLength: 5 });
  const pairs = fc.array(fc.tuple(one, one), { maxLength: 3 });
  return fc.oneof(
    one.map((value): Typed => ({ type, value })),
    list.map((value): Typed => ({ type: `${type}[]`, value })),
    pairs.map((value): Typed => ({ type: `${type}[2][]`, value })),
  );
});

/** Structs that refer to the ones before them, as single values and in lists. */
const anyTypedData = fc
  .record({
    structs: fc.array(fc.array(typedValue, { maxLength: 5 }), { minLength: 1, maxLength: 3 }),
    domain: fc.record(
      {
        name: fc.string({ maxLength: 20 }),
        version: fc.string({ maxLength: 5 }),
        chainId: fc.integer({ min: 0 }),
        verifyingContract: hex(20, 20),
        salt: hex(32, 32),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ structs, domain }) => {
    const types: Record<string, { name: string; type: string }[]> = {};
    let message: Record<string, unknown> = {};
    let primaryType = '';
    for (const [index, fields] of structs.entries()) {
      const before = message;
      // Names whose order is not the one in which they are found.
      const name = `T${9 - index}`;
      types[name] = fields.map(({ type }, at) => ({ name: `f${at}`, type }));
      message = Object.fromEntries(fields.map(({ value }, at) => [`f${at}`, value]));
      if (index > 0) {
        types[name].push(
          { name: 'one', type: primaryType },
          { name: 'none', type: `${primaryType}[]` },
          { name: 'all', type: `${primaryType}[]` },
          { name: 'grid', type: `${primaryType}[2][2]` },
        );
        const pair = [before, before];
        message = { ...message, one: before, none: [], all: pair, grid: [pair, pair] };
      }
      primaryType = name;
    }
    return { types, primaryType, domain, message };
  });

it("is viem's digest of any typed data, as an object and as text", () => {
  fc.assert(
    fc.property(anyTypedData, (typed) => {
      const expected = portableHash(typed as never);
      expect(hashTypedData(typed as never)).toBe(expected);
      expect(hashTypedPayload(JSON.stringify(typed))).toBe(digestOf(JSON.stringify(typed)));
    }),
    { numRuns: 60 },
  );
});

it("is viem's digest of a domain alone, and of bytes as long as the longest calldata", () => {
  const domain = { name: 'orgwallet', version: '1', chainId: 1 };
  const types = { Call: [{ name: 'data', type: 'bytes' }] };
  for (const typed of [
    { domain, types: {}, primaryType: 'EIP712Domain' },
    { domain, types, primaryType: 'Call', message: { data: `0x${'a7'.repeat(131_072)}` } },
  ]) {
    expect(hashTypedData(typed as never)).toBe(portableHash(typed as never));
  }
});

it('refuses what viem refuses', () => {
  const typed = (type: string, value: unknown) => ({
    types: { A: [{ name: 'a', type }] },
    primaryType: 'A',
    domain: {},
    message: { a: value },
  });
  for (const wrong of [
    typed('uint8', 256),
    typed('uint8', -1),
    typed('address', '0x12'),
    typed('bytes4', '0x1234'),
    typed('B', { b: 1 }),
    typed('string[]', 'text'),
    { ...typed('bool', true), primaryType: 'B' },
    { ...typed('bool', true), domain: { verifyingContract: '0x12' } },
  ]) {
    expect(() => portableHash(wrong as never)).toThrow();
    expect(() => hashTypedData(wrong as never)).toThrow();
  }
});
