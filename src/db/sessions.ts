import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Actor } from '../domain/actor';
import type { MemberSummary } from '../domain/approval';
import {
  IDLE_SECONDS,
  NONCE_ATTEMPTS,
  NONCE_SECONDS,
  SESSION_SECONDS,
  type SessionEnd,
} from '../domain/session';
import type { Wallet, WalletKind } from '../domain/wallet';
import { memberColumn } from './approvals';
import { type AuditInput, appendAudit, SYSTEM } from './audit';
import { type Credential, type CredentialMember, secretHash } from './credentials';
import type { Db, Tx } from './database';
import { newId } from './ids';
import { type PreparedStatement, runPrepared } from './prepared';
import { queryRows, requireRow } from './rows';
import type { SessionNonceRow, SessionRow } from './tables';

const TOKEN_SHAPE = /^[A-Za-z0-9_-]{43}$/;
const TOKEN_BYTES = 32;
const NONCE_BYTES = 16;
/** Open sessions of one member; with one more the oldest ends. */
const MAX_SESSIONS = 20;
const KEPT_DAYS = 30;
const SWEPT_AT_ONCE = 500;

const isAdmin = `EXISTS (SELECT FROM admin_set_members a
        WHERE a.organization_id = s.organization_id AND a.member_id = s.member_id)`;

/** The wallet that signed is still the one of its member. */
const SAME_WALLET = `(lower(m.wallet_address) = lower(s.wallet_address) AND m.wallet_kind = s.wallet_kind)`;
const IDLE = `make_interval(secs => ${IDLE_SECONDS})`;
/** Whether a session `s` of the member `m` is valid, whether or not its end is recorded. */
const VALID = `(s.ended_at IS NULL AND s.expires_at > now() AND s.last_used_at > now() - ${IDLE}
      AND m.removed_at IS NULL AND m.type = 'user' AND ${SAME_WALLET})`;

/** A session as its member sees it. */
export interface Session {
  readonly id: string;
  readonly organization: { readonly id: string; readonly name: string };
  readonly member: MemberSummary;
  readonly isAdmin: boolean;
  readonly userAgent: string | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  readonly idleExpiresAt: Date;
  readonly expiresAt: Date;
}

/** What `readSessions` reads. */
type SessionColumns = Pick<
  SessionRow,
  'id' | 'organization_id' | 'user_agent' | 'created_at' | 'last_used_at' | 'expires_at'
> & {
  readonly organization_name: string;
  readonly member: MemberSummary;
  readonly is_admin: boolean;
  readonly idle_expires_at: Date;
};

/** Creates a nonce, which can be used once. */
export async function openNonce(db: Db): Promise<{ nonce: string; expiresAt: Date }> {
  const nonce = randomBytes(NONCE_BYTES).toString('hex');
  const [row] = await queryRows<Pick<SessionNonceRow, 'expires_at'>>(
    db,
    'INSERT INTO session_nonces (nonce, expires_at) VALUES (?, now() + make_interval(secs => ?)) RETURNING expires_at',
    [nonce, NONCE_SECONDS],
  );
  return { nonce, expiresAt: requireRow(row).expires_at };
}

/** Counts an attempt to sign in with a nonce. Returns whether it may be made, and the time of the database. */
export async function attemptNonce(db: Db, nonce: string): Promise<{ open: boolean; now: Date }> {
  const [row] = await queryRows<{ open: boolean; now: Date }>(
    db,
    `WITH attempt AS (
       UPDATE session_nonces SET attempts = attempts + 1
       WHERE nonce = ? AND expires_at > now() AND attempts < ? RETURNING nonce)
     SELECT EXISTS (SELECT FROM attempt) AS open, date_trunc('milliseconds', now()) AS now`,
    [nonce, NONCE_ATTEMPTS],
  );
  return requireRow(row);
}

/** What a wallet is in an organization. */
export interface Membership {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly memberId: string;
  readonly memberName: string;
  readonly walletKind: WalletKind;
}

/** The people whose wallet it is, in all organizations. */
export async function findPeople(db: Db, walletAddress: string): Promise<Membership[]> {
  return queryRows<Membership>(
    db,
    `SELECT o.id AS "organizationId", o.name AS "organizationName", m.id AS "memberId", m.name AS "memberName",
       m.wallet_kind AS "walletKind"
     FROM members m JOIN organizations o ON o.id = m.organization_id
     WHERE lower(m.wallet_address) = lower(?) AND m.removed_at IS NULL AND m.type = 'user' ORDER BY o.id`,
    [walletAddress],
  );
}

function memberActor({
  id,
  name,
  walletAddress,
}: Pick<MemberSummary, 'id' | 'name' | 'walletAddress'>): Actor {
  return { type: 'member', id, name, walletAddress };
}

function endEntry(
  { id, member }: { readonly id: string; readonly member: Pick<MemberSummary, 'id' | 'name'> },
  reason: SessionEnd,
  actor: Actor,
): AuditInput {
  const details = { reason, memberId: member.id, memberName: member.name };
  return { action: 'session.ended', actor, resourceType: 'session', resourceId: id, details };
}

/**
 * Uses up a nonce and begins a session of a member with that wallet, audited, in one transaction. Returns its token: the
 * only time that it can be seen. `spent`: the nonce is used or expired; `gone`: the member is, or has another wallet now.
 */
export async function startSession(
  db: Db,
  input: {
    readonly organizationId: string;
    readonly memberId: string;
    readonly wallet: Wallet;
    readonly nonce: string;
    readonly origin: string;
    readonly userAgent: string | null;
  },
): Promise<{ id: string; token: string } | 'spent' | 'gone'> {
  const { organizationId, memberId, wallet, nonce, origin, userAgent } = input;
  return db.transaction(async (tx) => {
    // This lock keeps members from changing.
    await tx('admin_sets').where({ organization_id: organizationId }).forShare().first('id');
    const used = await tx('session_nonces').where({ nonce }).where('expires_at', '>', tx.fn.now()).delete();
    if (used !== 1) return 'spent';
    const member = await tx('members')
      .where({ id: memberId, organization_id: organizationId, type: 'user', removed_at: null })
      .where({ wallet_kind: wallet.walletKind })
      .whereRaw('lower(wallet_address) = lower(?)', [wallet.walletAddress])
      .first();
    if (!member) return 'gone';
    const id = newId('ses');
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const replaced = await endOldest(tx, memberId);
    const [row] = await tx('sessions')
      .insert({
        id,
        organization_id: organizationId,
        member_id: memberId,
        wallet_address: member.wallet_address,
        wallet_kind: member.wallet_kind,
        token_hash: secretHash(token),
        user_agent: userAgent,
        expires_at: tx.raw('now() + make_interval(secs => ?)', [SESSION_SECONDS]),
      })
      .returning('expires_at');
    const { name, wallet_address: walletAddress, wallet_kind: walletKind } = member;
    const actor = memberActor({ id: memberId, name, walletAddress });
    const expiresAt = requireRow(row).expires_at.toISOString();
    const details = { walletAddress, walletKind, origin, nonce, userAgent, expiresAt };
    await appendAudit(tx, organizationId, [
      ...replaced.map((ended) => endEntry({ id: ended, member: { id: memberId, name } }, 'replaced', actor)),
      { action: 'session.started', actor, resourceType: 'session', resourceId: id, details },
    ]);
    return { id, token };
  });
}

/**
 * Ends the oldest sessions of a member who has as many as are kept. Returns their ids. Nothing is updated where there are
 * fewer: an update, also of no row, clears the cached sessions of every process.
 */
async function endOldest(tx: Tx, memberId: string): Promise<string[]> {
  const oldest: string[] = await tx('sessions')
    .where({ member_id: memberId, ended_at: null })
    .orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .offset(MAX_SESSIONS - 1)
    .pluck('id');
  if (oldest.length === 0) return [];
  const ended = await tx('sessions')
    .whereIn('id', oldest)
    .where({ ended_at: null })
    .update({ ended_at: tx.fn.now() })
    .returning('id');
  return ended.map(({ id }) => id);
}

/** What `SESSIONS_BY_HASH` reads. */
interface SessionByHash extends Pick<SessionRow, 'id' | 'organization_id' | 'token_hash' | 'expires_at'> {
  readonly member: CredentialMember;
}

const SESSIONS_BY_HASH: PreparedStatement = {
  name: 'sessions_by_hash',
  text: `SELECT s.id, s.organization_id, s.token_hash, s.expires_at, json_build_object(
      'id', m.id, 'name', m.name, 'walletAddress', m.wallet_address, 'isAdmin', ${isAdmin}) AS member
    FROM sessions s JOIN members m ON m.id = s.member_id
    WHERE s.token_hash = ANY($1) AND ${VALID}`,
};

/** The same, which counts as use. */
const USED_SESSIONS_BY_HASH: PreparedStatement = {
  name: 'used_sessions_by_hash',
  text: `WITH used AS (
      UPDATE sessions s SET last_used_at = now() FROM members m
      WHERE s.token_hash = ANY($1) AND m.id = s.member_id AND ${VALID}
        AND s.last_used_at < now() - interval '1 minute'
    )
    ${SESSIONS_BY_HASH.text}`,
};

/**
 * Whose sessions the tokens are. A token that is malformed, unknown or of a session that is over is not in the result.
 * `countsAsUse`: they end so much later.
 */
export async function authenticateSessions(
  db: Db,
  tokens: readonly string[],
  { countsAsUse }: { readonly countsAsUse: boolean },
): Promise<ReadonlyMap<string, Credential>> {
  const wellShaped = tokens.filter((token) => TOKEN_SHAPE.test(token));
  if (wellShaped.length === 0) return new Map();
  const hashes = wellShaped.map(secretHash);
  const rows = await runPrepared<SessionByHash>(db, countsAsUse ? USED_SESSIONS_BY_HASH : SESSIONS_BY_HASH, [
    hashes,
  ]);
  const authenticated = new Map<string, Credential>();
  for (const { id, organization_id: organizationId, token_hash, expires_at: expiresAt, member } of rows) {
    const token = wellShaped[hashes.findIndex((hash) => timingSafeEqual(token_hash, hash))];
    if (token === undefined) continue;
    authenticated.set(token, { id, organizationId, expiresAt, members: [member], limitedAs: member.id });
  }
  return authenticated;
}

/** Which sessions: those of one organization, of one of its members, or, said in so many words, of all organizations. */
export type SessionFilter =
  | 'allOrganizations'
  | { readonly organizationId: string; readonly memberId?: string };

/** The valid sessions, newest first. */
export async function listSessions(db: Db, filter: SessionFilter): Promise<Session[]> {
  const all = filter === 'allOrganizations';
  const { organizationId = null, memberId = null } = all ? {} : filter;
  const rows = await queryRows<SessionColumns>(
    db,
    `SELECT s.id, s.organization_id, s.user_agent, s.created_at, s.last_used_at, s.expires_at,
       least(s.last_used_at + ${IDLE}, s.expires_at) AS idle_expires_at,
       o.name AS organization_name, ${memberColumn('m')} AS member, ${isAdmin} AS is_admin
     FROM sessions s JOIN members m ON m.id = s.member_id JOIN organizations o ON o.id = s.organization_id
     WHERE (:all OR s.organization_id = :organizationId)
       AND s.member_id = coalesce(:memberId, s.member_id) AND ${VALID} ORDER BY s.created_at DESC, s.id DESC`,
    { all, organizationId, memberId },
  );
  return rows.map((row) => ({
    id: row.id,
    organization: { id: row.organization_id, name: row.organization_name },
    member: row.member,
    isAdmin: row.is_admin,
    userAgent: row.user_agent,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    idleExpiresAt: row.idle_expires_at,
    expiresAt: row.expires_at,
  }));
}

/** Ends a session, audited. False when there is none that is open; `memberId`: only one of this member. */
export async function endSession(
  db: Db,
  key: { readonly id: string; readonly organizationId?: string; readonly memberId?: string },
  operator?: Actor,
): Promise<boolean> {
  return db.transaction(async (tx) => {
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

/** A change in an organization, without what changed. */
export interface ReportedChange {
  readonly organizationId: string;
  /** Of its audit entry, in the order of commit. */
  readonly position: bigint;
  readonly action: string;
  readonly resourceType: string;
  readonly resourceId: string;
}

/** The position of the last change in an organization. */
export async function readLastPosition(db: Db, organizationId: string): Promise<bigint> {
  const row = await db('audit_heads').where({ organization_id: organizationId }).first('position');
  return requireRow(row).position;
}

/** What `READ_CHANGES` reads. */
interface ChangesColumns {
  readonly changes: readonly (Omit<ReportedChange, 'position'> & { readonly position: string })[];
  readonly valid: readonly string[];
}

const READ_CHANGES: PreparedStatement = {
  name: 'read_changes',
  text: `SELECT
    (SELECT coalesce(json_agg(json_build_object('organizationId', c.organization_id, 'position', c.position::text,
        'action', c.action, 'resourceType', c.resource_type, 'resourceId', c.resource_id)
        ORDER BY c.organization_id, c.position), '[]')
      FROM unnest($1::text[], $2::bigint[]) AS heard (organization_id, position)
      CROSS JOIN LATERAL (
        SELECT a.organization_id, a.position, a.action, a.resource_type, a.resource_id FROM audit_log a
        WHERE a.organization_id = heard.organization_id AND a.position > heard.position
        ORDER BY a.position LIMIT $3) AS c) AS changes,
    ARRAY(SELECT s.id FROM sessions s JOIN members m ON m.id = s.member_id
      WHERE s.id = ANY($4) AND ${VALID}) AS valid`,
};

/**
 * The changes in some organizations after a position of each, at most `limit` of each, and which of some sessions are valid.
 * Nothing of it counts as use.
 */
export async function readChanges(
  db: Db,
  heard: ReadonlyMap<string, bigint>,
  { sessionIds, limit }: { readonly sessionIds: readonly string[]; readonly limit: number },
): Promise<{ changes: ReportedChange[]; valid: ReadonlySet<string> }> {
  const positions = [...heard.values()].map(String);
  const values = [[...heard.keys()], positions, limit, [...sessionIds]];
  const row = requireRow((await runPrepared<ChangesColumns>(db, READ_CHANGES, values))[0]);
  return {
    changes: row.changes.map((change) => ({ ...change, position: BigInt(change.position) })),
    valid: new Set(row.valid),
  };
}
