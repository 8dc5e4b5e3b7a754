import { randomBytes } from 'node:crypto';
import type { MemberSummary } from '../domain/approval';
import { SESSION_SECONDS } from '../domain/session';
import type { Wallet } from '../domain/wallet';
import { holdAdmins } from './approvalLocks';
import { appendAudit } from './audit';
import { secretHash } from './credentials';
import type { Db } from './database';
import { newId } from './ids';
import { queryRows, requireRow } from './rows';
import { endEntry, endOldest, memberActor } from './sessionEnds';
import { useNonce } from './sessionNonces';
import { IDLE, IS_ADMIN, VALID } from './sessionValidity';
import { memberColumn } from './storedApprovals';
import type { SessionRow } from './tables';

const TOKEN_BYTES = 32;

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

/** What `listSessions` reads. */
type SessionColumns = Pick<
  SessionRow,
  'id' | 'organization_id' | 'user_agent' | 'created_at' | 'last_used_at' | 'expires_at'
> & {
  readonly organization_name: string;
  readonly member: MemberSummary;
  readonly is_admin: boolean;
  readonly idle_expires_at: Date;
};

/** Which sessions: those of one organization, of one of its members, or, said in so many words, of all organizations. */
type SessionFilter = 'allOrganizations' | { readonly organizationId: string; readonly memberId?: string };

/** The valid sessions, newest first. */
export async function listSessions(db: Db, filter: SessionFilter): Promise<Session[]> {
  const all = filter === 'allOrganizations';
  const { organizationId = null, memberId = null } = all ? {} : filter;
  const rows = await queryRows<SessionColumns>(
    db,
    `SELECT s.id, s.organization_id, s.user_agent, s.created_at, s.last_used_at, s.expires_at,
       least(s.last_used_at + ${IDLE}, s.expires_at) AS idle_expires_at,
       o.name AS organization_name, ${memberColumn('m')} AS member, ${IS_ADMIN} AS is_admin
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
    await holdAdmins(tx, organizationId);
    if (!(await useNonce(tx, nonce))) return 'spent';
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
