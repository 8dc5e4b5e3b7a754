import fc from 'fast-check';
import { createKeccak, type IHasher } from 'hash-wasm';
import { bytesToHex, type Hex, keccak256 as portableKeccak, stringToBytes } from 'viem';
import { keccak256, keccakWith, textHash } from '../../../src/chain/keccak';

/** As long as the longest calldata, and around the 136 bytes that keccak256 takes at once. */
const LENGTHS = [0, 1, 31, 32, 64, 135, 136, 137, 271, 272, 273, 16_384, 16_385, 131_072, 131_073];

let wasm: IHasher;
beforeAll(async () => {
  wasm = await createKeccak(256);
});

function check(bytes: Uint8Array): void {
  const hex = bytesToHex(bytes);
  const expected = portableKeccak(hex);
  for (const hasher of [wasm, undefined]) expect(bytesToHex(keccakWith(hasher, bytes))).toBe(expected);
  const upper = `0x${hex.slice(2).toUpperCase()}` as Hex;
  for (const value of [bytes, hex, upper]) expect(keccak256(value)).toBe(expected);
}

describe('keccak256', () => {
  it("is viem's, at every length that matters", () => {
    for (const length of LENGTHS) check(Uint8Array.from({ length }, (_, at) => (at * 7 + length) % 256));
  });

  it("is viem's for any bytes", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 2_000 }), check), { numRuns: 200 });
  });

  it('hashes a part of a larger buffer, and does not change an earlier hash', () => {
    const whole = Uint8Array.from({ length: 300 }, (_, at) => at % 256);
    const first = keccakWith(wasm, whole);
    const kept = bytesToHex(first);
    check(whole.subarray(17, 210));
    expect(bytesToHex(first)).toBe(kept);
  });

  it("is viem's for any text, also with lone surrogates", () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        expect(textHash(text)).toBe(portableKeccak(stringToBytes(text)));
      }),
      { numRuns: 200 },
    );
    expect(textHash('a\ud800b')).toBe(portableKeccak(stringToBytes('a\ud800b')));
  });

  it.each(['', '0', '00', '0x0', '0xzz', '0x00zz', '0x00 00', 'text'])('refuses %j', (text) => {
    expect(() => keccak256(text as Hex)).toThrow('hex digits');
  });
});
