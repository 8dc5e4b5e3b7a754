import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PrivateKeyAccount } from 'viem/accounts';
import { json, words } from '../../cli/command';
import { temporaryDir } from '../stack';

/** Somebody who founds an organization. */
interface Founder {
  readonly name: string;
  readonly type?: 'api';
  readonly wallet: Pick<PrivateKeyAccount, 'address' | 'signTypedData'>;
  readonly walletKind?: 'contract';
}

/** An organization whose founders have not signed yet. */
export interface Ceremony {
  readonly id: string;
  readonly memberIds: readonly string[];
  /** The genesis, as the operator gives it to the founders. */
  readonly file: string;
  readonly payload: string;
  /** What is on the board. */
  readonly hash: string;
}

/** Creates an organization with the commands of the page about founding, in the settings of a service. */
export async function beginCeremony(
  env: NodeJS.ProcessEnv,
  name: string,
  threshold: number,
  founders: readonly Founder[],
): Promise<Ceremony> {
  const dir = temporaryDir();
  const path = (file: string) => join(dir, file);
  const members = founders.map(({ wallet, type = 'user', ...founder }) => ({
    ...founder,
    ...{ type, walletAddress: wallet.address, admin: true },
  }));
  writeFileSync(path('keys.json'), await words(env, 'signer', 'keys'));
  writeFileSync(path('org.json'), JSON.stringify({ name, threshold, members }));
  const given = ['--file', path('org.json'), '--keys', path('keys.json')];
  const { organizationId: id, memberIds, genesis } = await json(env, 'org', 'create', ...given);
  const file = path('genesis.json');
  await words(env, 'org', 'genesis', id, '--out', file);
  return { id, memberIds, file, payload: readFileSync(file, 'utf8'), hash: genesis.hash };
}
