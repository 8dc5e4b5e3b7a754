import type { MemberSummary } from '../domain/approval';
import { secretHash } from './credentials';
import type { Db, Tx } from './database';
import { queryRows, requireRow } from './rows';
import { IDLE, IS_ADMIN, VALID } from './sessionValidity';
import { memberColumn } from './storedApprovals';
import type { SessionRow } from './tables';

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

/** Stores a session of a member that lasts so long. Returns when it expires. */
export async function insertSession(
  tx: Tx,
  session: {
    readonly id: string;
    readonly organizationId: string;
    readonly member: Pick<MemberSummary, 'id' | 'walletAddress' | 'walletKind'>;
    /** What it is recognized by, of which only a hash is stored. */
    readonly token: string;
    readonly userAgent: string | null;
    readonly seconds: number;
  },
): Promise<Date> {
  const { id, organizationId, member, token, userAgent, seconds } = session;
  const [row] = await tx('sessions')
    .insert({
      id,
      organization_id: organizationId,
      member_id: member.id,
      wallet_address: member.walletAddress,
      wallet_kind: member.walletKind,
      token_hash: secretHash(token),
      user_agent: userAgent,
      expires_at: tx.raw('now() + make_interval(secs => ?)', [seconds]),
    })
    .returning('expires_at');
  return requireRow(row).expires_at;
}
