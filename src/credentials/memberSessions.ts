import { randomBytes } from 'node:crypto';
import { holdAdmins } from '../db/approvalLocks';
import { type AuditInput, appendAudit } from '../db/audit';
import type { Db, Tx } from '../db/database';
import { newId } from '../db/ids';
import { deleteUnusedBrowsers, rememberBrowser } from '../db/knownBrowsers';
import { findPerson } from '../db/members';
import {
  deleteEndedSessions,
  endIfInvalid,
  endOldest,
  endOpen,
  invalidSessions,
  type SessionKey,
} from '../db/sessionEnds';
import { deleteExpiredNonces, useNonce } from '../db/sessionNonces';
import { insertSession } from '../db/sessions';
import { type Actor, memberActor, SYSTEM } from '../domain/actor';
import type { MemberSummary } from '../domain/approval';
import { SESSION_SECONDS, type SessionEnd } from '../domain/session';
import type { Wallet } from '../domain/wallet';

const TOKEN_BYTES = 32;
/** Open sessions of one member; with one more the oldest ends. */
const MAX_SESSIONS = 20;
const KEPT_DAYS = 30;
const SWEPT_AT_ONCE = 500;

/** A new secret that a cookie carries. */
export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** The audit entry of the end of a session. */
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
    /** What its browser is recognized by, of which only a hash is stored. */
    readonly browser: string;
  },
): Promise<{ id: string; token: string } | 'spent' | 'gone'> {
  const { organizationId, memberId, wallet, nonce, origin, userAgent, browser } = input;
  return db.transaction(async (tx) => {
    await holdAdmins(tx, organizationId);
    if (!(await useNonce(tx, nonce))) return 'spent';
    const member = await findPerson(tx, { organizationId, memberId, wallet });
    if (!member) return 'gone';
    const id = newId('ses');
    const token = newToken();
    const replaced = await endOldest(tx, memberId, MAX_SESSIONS - 1);
    const lasting = { token, userAgent, seconds: SESSION_SECONDS };
    const expiresAt = await insertSession(tx, { id, organizationId, member, ...lasting });
    const newBrowser = await rememberBrowser(tx, memberId, browser);
    const actor = memberActor(member);
    const { walletAddress, walletKind } = member;
    const details = {
      walletAddress,
      walletKind,
      origin,
      nonce,
      userAgent,
      newBrowser,
      expiresAt: expiresAt.toISOString(),
    };
    await appendAudit(tx, organizationId, [
      ...replaced.map((ended) => endEntry({ id: ended, member }, 'replaced', actor)),
      { action: 'session.started', actor, resourceType: 'session', resourceId: id, details },
    ]);
    return { id, token };
  });
}

/**
 * Ends a session, audited. False when there is none that is open. `memberId`: only one of this member; `by`: the session that
 * ends it, which is open as well.
 */
export async function endSession(db: Db, key: SessionKey, operator?: Actor): Promise<boolean> {
  return db.transaction(async (tx) => {
    const ended = await endOpen(tx, key);
    if (!ended) return false;
    const { organizationId, member } = ended;
    const reason = operator ? 'operator' : 'signedOut';
    const entry = endEntry({ id: key.id, member }, reason, operator ?? memberActor(member));
    await appendAudit(tx, organizationId, [entry]);
    return true;
  });
}

/**
 * Ends the sessions of members who have been removed or have another wallet, in the transaction that changes them.
 * Returns the audit entries of their ends.
 */
export async function endSessionsOf(
  tx: Tx,
  memberIds: readonly string[],
  actor: Actor,
): Promise<AuditInput[]> {
  const ended = await endIfInvalid(tx, { column: 'member_id', values: memberIds });
  return ended.map((session) => endEntry(session, session.reason, actor));
}

/** Records the ends of sessions that are over, and deletes what nothing needs any more. */
export async function sweepSessions(db: Db): Promise<void> {
  await deleteExpiredNonces(db);
  await deleteEndedSessions(db, KEPT_DAYS);
  await deleteUnusedBrowsers(db);
  for (const { organizationId, ids } of await invalidSessions(db, SWEPT_AT_ONCE)) {
    await db.transaction(async (tx) => {
      const ended = await endIfInvalid(tx, { column: 'id', values: ids });
      await appendAudit(
        tx,
        organizationId,
        ended.map((session) => endEntry(session, session.reason, SYSTEM)),
      );
    });
  }
}
