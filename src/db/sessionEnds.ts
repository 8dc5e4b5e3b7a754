import type { MemberSummary } from '../domain/approval';
import type { SessionEnd } from '../domain/session';
import type { Db, Tx } from './database';
import { queueAlone } from './lockQueues';
import { queryRows, requireRow } from './rows';
import { SAME_WALLET, VALID } from './sessionValidity';
import type { SessionRow } from './tables';

/**
 * Ends the oldest sessions of a member, apart from so many. Returns their ids. Nothing is updated where there are fewer: an
 * update, also of no row, clears the cached sessions of every process.
 */
export async function endOldest(tx: Tx, memberId: string, kept: number): Promise<string[]> {
  const oldest: string[] = await tx('sessions')
    .where({ member_id: memberId, ended_at: null })
    .orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .offset(kept)
    .pluck('id');
  if (oldest.length === 0) return [];
  await queueAlone(tx, oldest);
  const ended = await tx('sessions')
    .whereIn('id', oldest)
    .where({ ended_at: null })
    .update({ ended_at: tx.fn.now() })
    .returning('id');
  return ended.map(({ id }) => id);
}

/** Holds sessions until the end of the transaction, in one order; false when one of them is not open. */
async function holdOpen(tx: Tx, ids: readonly string[]): Promise<boolean> {
  const all = new Set(ids);
  const open = await tx('sessions')
    .whereIn('id', [...all])
    .where({ ended_at: null })
    .orderBy('id')
    .forUpdate()
    .pluck('id');
  return open.length === all.size;
}

/** Which session: maybe only one of an organization, or of a member, or while the session `by` is open as well. */
export interface SessionKey {
  readonly id: string;
  readonly organizationId?: string;
  readonly memberId?: string;
  readonly by?: string;
}

/** Ends an open session. Returns whose it was; undefined when there is none. */
export async function endOpen(
  tx: Tx,
  { id, organizationId, memberId, by }: SessionKey,
): Promise<
  | { readonly organizationId: string; readonly member: Pick<MemberSummary, 'id' | 'name' | 'walletAddress'> }
  | undefined
> {
  const held = by === undefined ? [id] : [id, by];
  await queueAlone(tx, held);
  if (by !== undefined && !(await holdOpen(tx, held))) return undefined;
  const query = tx('sessions').where({ id, ended_at: null });
  if (organizationId !== undefined) query.where({ organization_id: organizationId });
  if (memberId !== undefined) query.where({ member_id: memberId });
  const [row] = await query
    .update({ ended_at: tx.fn.now() })
    .returning(['organization_id', 'member_id', 'wallet_address']);
  if (!row) return undefined;
  const { name } = requireRow(await tx('members').where({ id: row.member_id }).first('name'));
  const member = { id: row.member_id, name, walletAddress: row.wallet_address };
  return { organizationId: row.organization_id, member };
}

/** What the end of a session that is over is recorded as. */
const END_REASON = `CASE WHEN m.removed_at IS NOT NULL OR m.type <> 'user' THEN 'memberRemoved'
  WHEN NOT ${SAME_WALLET} THEN 'walletChanged' WHEN s.expires_at <= now() THEN 'expired' ELSE 'idle' END`;

/** A session that was over, and why. */
interface EndedSession {
  readonly id: string;
  readonly member: Pick<MemberSummary, 'id' | 'name'>;
  readonly reason: SessionEnd;
}

/** Ends those of some sessions that are over. */
export async function endIfInvalid(
  tx: Tx,
  condition: { readonly column: 'id' | 'member_id'; readonly values: readonly string[] },
): Promise<EndedSession[]> {
  const rows = await queryRows<{ id: string; member_id: string; name: string; reason: SessionEnd }>(
    tx,
    `UPDATE sessions s SET ended_at = now() FROM members m
     WHERE m.id = s.member_id AND s.${condition.column} = ANY(?) AND s.ended_at IS NULL AND NOT ${VALID}
     RETURNING s.id, s.member_id, m.name, ${END_REASON} AS reason`,
    [[...condition.values]],
  );
  return rows.map(({ id, member_id, name, reason }) => ({ id, member: { id: member_id, name }, reason }));
}

/** Sessions that are over and not ended, by organization. */
export async function invalidSessions(
  db: Db,
  limit: number,
): Promise<{ readonly organizationId: string; readonly ids: string[] }[]> {
  const rows = await queryRows<Pick<SessionRow, 'organization_id'> & { ids: string[] }>(
    db,
    `SELECT o.organization_id, array_agg(o.id) AS ids FROM (
       SELECT s.organization_id, s.id FROM sessions s JOIN members m ON m.id = s.member_id
       WHERE s.ended_at IS NULL AND NOT ${VALID} LIMIT ?) o
     GROUP BY o.organization_id`,
    [limit],
  );
  return rows.map(({ organization_id: organizationId, ids }) => ({ organizationId, ids }));
}

/** Deletes the sessions that ended so many days ago. */
export async function deleteEndedSessions(db: Db, days: number): Promise<void> {
  await db.raw('DELETE FROM sessions WHERE ended_at < now() - make_interval(days => ?)', [days]);
}
