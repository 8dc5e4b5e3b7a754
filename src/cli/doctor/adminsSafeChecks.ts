import type { Db } from '../../db/database';
import { type Admins, readAdmins } from '../../db/members';
import { listOrganizations } from '../../db/organizations';
import { count } from '../text';
import { type Finding, fail, firstOf, ok, warn } from './finding';

/** A network may be unavailable for a while. */
const BEHIND_MS = 3_600_000;

const RUNBOOK = 'see "An admins\' Safe is not what was decided" in the runbook';

/** Why fewer people than it seems can take the accounts over. */
function weakness({ threshold, members }: Pick<Admins, 'threshold' | 'members'>): string | undefined {
  if (threshold === 1) return 'one admin alone can take the accounts over (threshold 1)';
  const bots = members.filter(({ type }) => type === 'api').length;
  return bots >= threshold ? `bots alone can take the accounts over (${bots} of ${threshold})` : undefined;
}

/** What doctor says about the admins' Safe of an organization. `now` is in milliseconds. */
export function adminsSafeFindings(
  organizationId: string,
  admins: Pick<Admins, 'threshold' | 'members' | 'safes'>,
  now: number,
): Finding[] {
  const part = `admins' Safe of ${organizationId}`;
  const on = admins.safes.map((safe) => ({ ...safe, text: `network ${safe.networkId} ${safe.status}` }));
  const changed = on.filter(({ status }) => status === 'diverged' || status === 'independent');
  const behind = on.filter(
    ({ status, since }) =>
      ['missing', 'behind', 'unknown'].includes(status) && now - since.getTime() > BEHIND_MS,
  );
  const impossible = on.filter(({ status }) => status === 'impossible');
  const weak = weakness(admins);
  const texts = (list: readonly { text: string }[]) => firstOf(list.map(({ text }) => text));
  return [
    ...(changed.length === 0 ? [] : [fail(part, `its owners have changed it: ${texts(changed)}`, RUNBOOK)]),
    ...(behind.length === 0 ? [] : [fail(part, `for over an hour: ${texts(behind)}`, RUNBOOK)]),
    ...(impossible.length === 0
      ? []
      : [warn(part, texts(impossible), 'give admins wallets that are keys, or lower their threshold')]),
    ...(weak === undefined
      ? []
      : [warn(part, weak, 'raise the threshold of the admins to 2 or more people')]),
  ];
}

/** How the signer has read the admins' Safes last. `now`: by the clock of the database, in milliseconds. */
export async function checkAdminsSafes(db: Db, now: number): Promise<Finding[]> {
  const findings: Finding[] = [];
  let kept = 0;
  for (const { id } of await listOrganizations(db)) {
    const admins = await readAdmins(db, id).catch(() => undefined);
    if (!admins?.onChain) continue;
    kept += 1;
    findings.push(...adminsSafeFindings(id, admins, now));
  }
  if (findings.length > 0) return findings;
  const those = count(kept, 'organization', 'organizations');
  return [ok("admins' Safes", kept === 0 ? 'none' : `those of ${those} are what was decided`)];
}
