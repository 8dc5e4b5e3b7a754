import { mnemonicToAccount } from 'viem/accounts';
import { refuseWellKnownKey } from '../../../src/domain/wellKnownKeys';
import { aMember } from '../../support/builders';

const MNEMONIC = 'test test test test test test test test test test test junk';
const fieldOf = (i: number) => `items[${i}].walletAddress`;

describe('a wallet with a well-known key', () => {
  it.each([0, 9, 19])('is account %i of the mnemonic of local chains, in any case', (addressIndex) => {
    const { address } = mnemonicToAccount(MNEMONIC, { addressIndex });
    for (const written of [address, address.toLowerCase()]) {
      const members = [aMember().build(), aMember().named('Demo').withWallet(written).build()];
      expect(refuseWellKnownKey(members, fieldOf)?.refusal).toEqual({
        code: 'validationError',
        message: `${written} of "Demo" has a well-known private key: not allowed in production`,
        field: 'items[1].walletAddress',
      });
    }
  });

  it('is no other one', () => {
    const { address } = mnemonicToAccount(MNEMONIC, { addressIndex: 20 });
    const members = [aMember().build(), aMember().withWallet(address).build()];
    expect(refuseWellKnownKey(members, fieldOf)).toBeUndefined();
  });
});
