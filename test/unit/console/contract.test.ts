import fc from 'fast-check';
import { checksumAddress, isZeroAddress } from '../../../console/src/contract/portableAddress.ts';
import { textHash } from '../../../console/src/contract/portableKeccak.ts';
import * as address from '../../../src/chain/address';
import * as keccak from '../../../src/chain/keccak';

const addresses = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);

describe('what the console has in place of modules of the service', () => {
  it('writes addresses with the same checksum, and refuses the same', () => {
    fc.assert(
      fc.property(addresses, (text) => {
        expect(checksumAddress(text)).toBe(address.checksumAddress(text));
        expect(isZeroAddress(text)).toBe(address.isZeroAddress(text));
      }),
    );
    expect(isZeroAddress(`0x${'0'.repeat(40)}`)).toBe(true);
    for (const text of ['', '0x', `0x${'g'.repeat(40)}`]) {
      expect(() => checksumAddress(text)).toThrow();
      expect(() => address.checksumAddress(text)).toThrow();
    }
  });

  it('hashes texts to the same', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) =>
        expect(textHash(text)).toBe(keccak.textHash(text)),
      ),
    );
  });
});
