import { type LastSeen, type Seen, SILENT_MS } from '../domain/lastSeen';
import { LEASE_HOLD_MS } from '../domain/signerLease';
import type { Db } from './database';
import { execute, queryRows } from './rows';

/** Notes that a process polls task queues now: one statement. */
export async function noteHeartbeat(db: Db, process: string, taskQueues: readonly string[]): Promise<void> {
  await execute(
    db,
    `INSERT INTO heartbeats (process, task_queue, seen_at)
     SELECT ?::uuid, queue, now() FROM unnest(?::text[]) queue
     ON CONFLICT (process, task_queue) DO UPDATE SET seen_at = now(), ended = false`,
    [process, [...taskQueues]],
  );
}

/** Notes that a process has stopped polling. */
export async function endHeartbeats(db: Db, process: string): Promise<void> {
  await db('heartbeats').where({ process }).update({ ended: true });
}

/** Forgets processes that were not seen for a week. */
export async function forgetHeartbeats(db: Db): Promise<void> {
  await db.raw(`DELETE FROM heartbeats WHERE seen_at < now() - interval '7 days'`);
}

/** Reads who was seen when: processes by their heartbeats, the signer by its lease, which it renews every few seconds. */
export async function readLastSeen(db: Db): Promise<LastSeen> {
  const rows = await queryRows<Seen & { readonly queue: string | null; readonly at: Date }>(
    db,
    `SELECT task_queue AS queue, now() AS at, max(seen_at) AS "lastSeen",
       bool_or(NOT ended AND seen_at > now() - make_interval(secs => :silent)) AS "isUp"
     FROM heartbeats GROUP BY task_queue
     UNION ALL
     SELECT NULL, now(), CASE WHEN holder IS NULL THEN held_until ELSE held_until - make_interval(secs => :hold) END,
       holder IS NOT NULL AND held_until > now()
     FROM signer_lease`,
    { silent: SILENT_MS / 1_000, hold: LEASE_HOLD_MS / 1_000 },
  );
  const queues = rows.flatMap(({ queue, lastSeen, isUp }) =>
    queue === null ? [] : [[queue, { lastSeen, isUp }] as const],
  );
  const lease = rows.find(({ queue }) => queue === null);
  if (!lease) throw new Error('the table signer_lease has no row: run `./orgwallet db migrate`');
  const { at, lastSeen, isUp } = lease;
  return { at, queues: new Map(queues), signer: { lastSeen, isUp } };
}
