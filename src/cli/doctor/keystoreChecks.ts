import { existsSync } from 'node:fs';
import type { Config } from '../../config';
import type { Relayer } from '../../db/relayers';
import { isSameAddress } from '../../domain/address';
import { lastBackup, openKeystore, readPassphrase } from '../../signer/keys/keystore';
import { type Finding, fail, ok, warn } from './finding';

const BACKUP = './orgwallet keystore backup: a lost keystore is lost money';

/** Checks that the keystore opens, derives this database's relayers, and has a backup. */
export async function checkKeystore(
  settings: Config['keystore'],
  relayers: readonly Relayer[],
): Promise<Finding[]> {
  const { file } = settings;
  if (!existsSync(file))
    return [warn('keystore', `${file} not found here`, 'run doctor where the signer runs')];
  const keystore = await openKeystore({ file, passphrase: readPassphrase(settings) });
  const other = relayers.find(
    ({ networkId, index, address }) => !isSameAddress(keystore.relayerKey(networkId, index).address, address),
  );
  const at = lastBackup(file);
  return [
    other
      ? fail(
          'keystore',
          `${file} opens, but relayer ${other.address} of this database is not its key`,
          'restore the keystore that belongs to this database',
        )
      : ok('keystore', `${file} opens (${keystore.fingerprint})`),
    at === null ? warn('backup', 'the keystore has no backup', BACKUP) : ok('backup', `last made ${at}`),
  ];
}
