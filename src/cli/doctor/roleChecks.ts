import type { Config } from '../../config';
import type { Db } from '../../db/database';
import { readLastSeen } from '../../db/lastSeen';
import {
  PART_OF_ROLE,
  POLLING_ROLES,
  type PollingRole,
  type SeenRole,
  seenRole,
  silentText,
} from '../../domain/lastSeen';
import { taskQueues } from '../../temporal/ids';
import { polledQueues } from '../../temporal/polledQueues';
import { duration } from '../text';
import { type Finding, fail, ok } from './finding';

/** How a role is started. */
export function startText(role: PollingRole): string {
  return `start a process whose ORGWALLET_ROLES has ${role}, with every network; check its log`;
}

/** A role by what its processes say: whether each of its queues is polled, and when it was seen last, `at` that time. */
export function roleFinding(seen: SeenRole, at: Date): Finding {
  const part = PART_OF_ROLE[seen.role];
  const { lastSeen } = seen;
  const when =
    lastSeen === null ? 'never seen' : `last seen ${duration(at.getTime() - lastSeen.getTime())} ago`;
  const silent = silentText(seen);
  if (silent !== undefined) return fail(part, `${silent} (${when})`, startText(seen.role));
  return ok(part, `polls ${seen.queues.map(({ name }) => name).join(', ')}, ${when}`);
}

/** The roles that nobody fills, for which open proposals and transactions wait. */
export async function silentRoles(db: Db, { temporal, networks }: Config): Promise<Finding[]> {
  const seen = await readLastSeen(db);
  const queues = polledQueues(
    taskQueues(temporal.taskQueue),
    networks.map(({ id }) => id),
  );
  const findings = POLLING_ROLES.map((role) => roleFinding(seenRole(role, queues[role], seen), seen.at));
  return findings.filter(({ status }) => status !== 'ok');
}
