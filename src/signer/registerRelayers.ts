import { KeystoreError } from '../chain/keys';
import type { SignerDeps } from './signerContext';
import { anySigningKey, recordRelayer } from './store/relayerRecords';

/**
 * Records the relayers of all networks. Run once when the signer starts. Throws KeystoreError when the keystore is not
 * the one that owns the accounts of this database.
 */
export async function registerRelayers({
  db,
  keystore,
  networks,
}: Pick<SignerDeps, 'db' | 'keystore' | 'networks'>): Promise<void> {
  const known = await anySigningKey(db);
  if (known && keystore.organizationKey(known.organizationId).address !== known.address) {
    throw new KeystoreError(
      `this keystore (${keystore.fingerprint}) is not the one that owns the accounts of this database: restore the right one from its backup (KEYSTORE_FILE)`,
    );
  }
  for (const { id: networkId, relayers } of networks) {
    for (let index = 0; index < relayers; index += 1) {
      const { address } = keystore.relayerKey(networkId, index);
      await recordRelayer(db, { networkId, index, address });
    }
  }
}
