import type { SigningKey, SigningKeys } from '../chain/keys';
import type { Journal } from './journal/journal';

/** A key of which each signature waits for `permit`. */
function guardedKey(key: SigningKey, permit: () => Promise<void>): SigningKey {
  const guarded = <A extends unknown[], R>(make: (...args: A) => Promise<R>) =>
    async function sign(...args: A) {
      await permit();
      return make.apply(key, args);
    };
  return {
    address: key.address,
    sign: guarded(key.sign),
    signTransaction: guarded(key.signTransaction),
  };
}

/**
 * Keys that sign only while this process may: for the chain, what the journal has and the database knows of. Decisions are
 * sealed inside of a database transaction, whose locks keep another signer out.
 */
export function journaledKeys(
  keys: SigningKeys,
  journal: Pick<Journal, 'assertCurrent' | 'assertSignable'>,
): SigningKeys {
  const signable = () => journal.assertSignable();
  const current = async () => journal.assertCurrent();
  return {
    fingerprint: keys.fingerprint,
    organizationKey: (id) => guardedKey(keys.organizationKey(id), signable),
    sealKey: (id) => guardedKey(keys.sealKey(id), current),
    relayerKey: (networkId, index) => guardedKey(keys.relayerKey(networkId, index), signable),
  };
}
