import { listOpenOfCreator, type SummarizedApproval } from '../db/approvalRefs';
import { updateApproval } from '../db/approvals';
import { appendAudit } from '../db/audit';
import { releaseClaims } from '../db/claims';
import type { Db } from '../db/database';
import { OPERATOR } from '../domain/actor';
import type { Failure } from '../domain/approval';
import type { ApprovalRef } from '../domain/approvalRef';
import type { JsonValue } from '../domain/canonicalJson';
import { type LockedApproval, lockAnyApproval } from './lockedApproval';

/** Why an operator closes an approval, and whether it may still be closed, checked under its lock by the database's time. */
interface Closing {
  readonly reason: string;
  readonly details?: { readonly [key: string]: JsonValue };
  readonly mayClose: (locked: LockedApproval) => boolean;
}

/** Closes an open approval as an operator, in one audited transaction. False when it is closed, or may not be. */
export async function closeApproval(
  db: Db,
  ref: ApprovalRef,
  { reason, details, mayClose }: Closing,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const locked = await lockAnyApproval(tx, ref);
    if (!locked || locked.record.closed || !mayClose(locked)) return false;
    const { record, time, about } = locked;
    const failure: Failure = {
      code: 'closedByOperator',
      message: reason,
      at: time.toISOString(),
      attempt: record.executionAttempt,
    };
    await releaseClaims(tx, ref.id);
    await locked.clear();
    await updateApproval(tx, ref.id, {
      executionStatus: 'failed',
      failure,
      waitingFor: null,
      closedWith: locked.tally,
    });
    await appendAudit(tx, ref.organizationId, [
      {
        action: `${ref.subject}.closed`,
        actor: OPERATOR,
        resourceType: ref.subject,
        resourceId: ref.id,
        details: { ...about, reason, ...details },
      },
    ]);
    return true;
  });
}

/** What became of the open approvals of a key. */
interface ClosedOfKey {
  readonly closed: readonly SummarizedApproval[];
  /** Being executed, or partly done: these go on. */
  readonly left: readonly SummarizedApproval[];
}

/**
 * Closes the open proposals and transactions that were created with an API key, as far as nothing of them is done or in
 * flight. Each is one audited transaction. The workflows of those that were closed learn of it by a `refresh`.
 */
export async function closeOpenOfKey(
  db: Db,
  { organizationId, apiKeyId }: { organizationId: string; apiKeyId: string },
): Promise<ClosedOfKey> {
  const reason = `the API key ${apiKeyId} that proposed it was revoked`;
  const closed: SummarizedApproval[] = [];
  const left: SummarizedApproval[] = [];
  for (const approval of await listOpenOfCreator(db, { organizationId, createdBy: apiKeyId })) {
    let goesOn = false;
    const isClosed = await closeApproval(db, approval, {
      reason,
      mayClose: ({ record, isPartlyDone }) => {
        goesOn = record.executionStatus === 'processing' || isPartlyDone;
        return !goesOn;
      },
    });
    if (isClosed) closed.push(approval);
    else if (goesOn) left.push(approval);
  }
  return { closed, left };
}
