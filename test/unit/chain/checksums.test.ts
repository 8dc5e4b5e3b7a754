import fc from 'fast-check';
import { getAddress, type Hex, zeroAddress } from 'viem';
import { addressOf, checksumAddress, isWellFormedAddress } from '../../../src/chain/address';

const anyAddress = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`);

describe('the checksum of an address', () => {
  it("is viem's", () => {
    const check = (address: Hex) => {
      const expected = getAddress(address);
      for (const text of [address, `0x${address.slice(2).toUpperCase()}`, expected]) {
        expect(checksumAddress(text)).toBe(expected);
      }
      expect(addressOf(Buffer.from(`00${address.slice(2)}`, 'hex').subarray(1))).toBe(expected);
      expect(isWellFormedAddress(expected)).toBe(true);
    };
    check(zeroAddress);
    fc.assert(fc.property(anyAddress, check), { numRuns: 2_000 });
  });

  it('is of addresses only', () => {
    for (const text of [
      '',
      '0x',
      'alice',
      `0x${'1'.repeat(39)}`,
      `0x${'1'.repeat(41)}`,
      `0x${'g'.repeat(40)}`,
    ])
      expect(() => checksumAddress(text)).toThrow();
  });

  it('is of 20 bytes only', () => {
    for (const length of [0, 19, 21, 32]) expect(() => addressOf(new Uint8Array(length))).toThrow(TypeError);
  });
});
