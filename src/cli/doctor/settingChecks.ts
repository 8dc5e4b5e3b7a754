import type { Config } from '../../config';
import type { Db } from '../../db/database';
import { settingDifferences } from '../../domain/settingDifferences';
import { sharedSettings } from '../../ownSettings';
import { readSignerSettings } from '../../signer/store/signerLease';
import { type Finding, fail, ok, warn } from './finding';

const TODO = 'give every process the same settings and NETWORKS_FILE, and start again what had others';

/** Compares the settings here with those that the last signer was started with; nothing where there was none. */
export async function checkSignerSettings(db: Db, config: Config): Promise<Finding[]> {
  const signer = await readSignerSettings(db);
  if (!signer) return [];
  const differences = settingDifferences(sharedSettings(config), signer.settings);
  if (differences.length === 0) return [ok('settings', 'as the signer has them')];
  return differences.map(({ setting, here, signer: there, effect, isHolding }) => {
    const found = `${setting} is ${here} here and ${there} at the signer (${signer.host}): ${effect}`;
    return isHolding ? fail('settings', found, TODO) : warn('settings', found, TODO);
  });
}
