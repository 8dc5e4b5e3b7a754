import type { Actor } from '../domain/actor';
import type { MemberSummary } from '../domain/approval';
import type { SessionEnd } from '../domain/session';
import { type AuditInput, appendAudit, SYSTEM } from './audit';
import type { Db, Tx } from './database';
import { queueAlone } from './lockQueues';
import { queryRows, requireRow } from './rows';
import { SAME_WALLET, VALID } from './sessionValidity';
import type { SessionRow } from './tables';

/** Open sessions of one member; with one more the oldest ends. */
const MAX_SESSIONS = 20;
const KEPT_DAYS = 30;
const SWEPT_AT_ONCE = 500;

/** The member of a session, as who begins and ends it. */
export function memberActor({
  id,
  name,
  walletAddress,
}: Pick<MemberSummary, 'id' | 'name' | 'walletAddress'>): Actor {
  return { type: 'member', id, name, walletAddress };
}

/** The audit entry of the end of a session. */
export function endEntry(
  { id, member }: { readonly id: string; readonly member: Pick<MemberSummary, 'id' | 'name'> },
  reason: SessionEnd,
  actor: Actor,
): AuditInput {
  const details = { reason, memberId: member.id, memberName: member.name };
  return { action: 'session.ended', actor, resourceType: 'session', resourceId: id, details };
}

/**
 * Ends the oldest sessions of a member who has as many as are kept. Returns their ids. Nothing is updated where there are
 * fewer: an update, also of no row, clears the cached sessions of every process.
 */
export async function endOldest(tx: Tx, memberId: string): Promise<string[]> {
  const oldest: string[] = await tx('sessions')
    .where({ member_id: memberId, ended_at: null })
    .orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .offset(MAX_SESSIONS - 1)
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

/**
 * Ends a session, audited. False when there is none that is open. `memberId`: only one of this member; `by`: the session that
 * ends it, which is open as well.
 */
export async function endSession(
  db: Db,
  key: {
    readonly id: string;
    readonly organizationId?: string;
    readonly memberId?: string;
    readonly by?: string;
  },
  operator?: Actor,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const held = key.by === undefined ? [key.id] : [key.id, key.by];
    await queueAlone(tx, held);
    if (key.by !== undefined && !(await holdOpen(tx, held))) return false;
    const query = tx('sessions').where({ id: key.id, ended_at: null });
    if (key.organizationId !== undefined) query.where({ organization_id: key.organizationId });
    if (key.memberId !== undefined) query.where({ member_id: key.memberId });
    const [row] = await query
      .update({ ended_at: tx.fn.now() })
      .returning(['organization_id', 'member_id', 'wallet_address']);
    if (!row) return false;
    const { name } = requireRow(await tx('members').where({ id: row.member_id }).first('name'));
    const member = { id: row.member_id, name, walletAddress: row.wallet_address };
    const reason = operator ? 'operator' : 'signedOut';
    const entry = endEntry({ id: key.id, member }, reason, operator ?? memberActor(member));
    await appendAudit(tx, row.organization_id, [entry]);
    return true;
  });
}

/** What the end of a session that is over is recorded as. */
const END_REASON = `CASE WHEN m.removed_at IS NOT NULL OR m.type <> 'user' THEN 'memberRemoved'
  WHEN NOT ${SAME_WALLET} THEN 'walletChanged' WHEN s.expires_at <= now() THEN 'expired' ELSE 'idle' END`;

/** Ends those of some sessions that are over. Returns the audit entries of their ends. */
async function endInvalid(
  tx: Tx,
  condition: { readonly column: 'id' | 'member_id'; readonly values: readonly string[] },
  actor: Actor,
): Promise<AuditInput[]> {
  const rows = await queryRows<{ id: string; member_id: string; name: string; reason: SessionEnd }>(
    tx,
    `UPDATE sessions s SET ended_at = now() FROM members m
     WHERE m.id = s.member_id AND s.${condition.column} = ANY(?) AND s.ended_at IS NULL AND NOT ${VALID}
     RETURNING s.id, s.member_id, m.name, ${END_REASON} AS reason`,
    [[...condition.values]],
  );
  return rows.map(({ id, member_id, name, reason }) =>
    endEntry({ id, member: { id: member_id, name } }, reason, actor),
  );
}

/**
 * Ends the sessions of members who have been removed or have another wallet, in the transaction that changes them.
 * Returns the audit entries of their ends.
 */
export function endSessionsOf(tx: Tx, memberIds: readonly string[], actor: Actor): Promise<AuditInput[]> {
  return endInvalid(tx, { column: 'member_id', values: memberIds }, actor);
}

/** Records the ends of sessions that are over, and deletes what nothing needs any more. */
export async function sweepSessions(db: Db): Promise<void> {
  await db.raw('DELETE FROM session_nonces WHERE expires_at <= now()');
  await db.raw('DELETE FROM sessions WHERE ended_at < now() - make_interval(days => ?)', [KEPT_DAYS]);
  const over = await queryRows<Pick<SessionRow, 'organization_id'> & { ids: string[] }>(
    db,
    `SELECT o.organization_id, array_agg(o.id) AS ids FROM (
       SELECT s.organization_id, s.id FROM sessions s JOIN members m ON m.id = s.member_id
       WHERE s.ended_at IS NULL AND NOT ${VALID} LIMIT ?) o
     GROUP BY o.organization_id`,
    [SWEPT_AT_ONCE],
  );
  for (const { organization_id: organizationId, ids } of over) {
    await db.transaction(async (tx) => {
      await appendAudit(tx, organizationId, await endInvalid(tx, { column: 'id', values: ids }, SYSTEM));
    });
  }
}
