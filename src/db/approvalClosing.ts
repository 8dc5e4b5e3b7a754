import { type Failure, tally } from '../domain/approval';
import type { ApprovalRef } from '../domain/approvalRef';
import type { JsonValue } from '../domain/canonicalJson';
import { proposalRules } from '../domain/proposal';
import { transactionRules } from '../domain/transaction';
import { approvalRef, type RefColumns } from './approvalNotes';
import { updateApproval } from './approvals';
import { appendAudit, OPERATOR } from './audit';
import { releaseClaims } from './claims';
import type { Db, Tx } from './database';
import { lockProposal } from './proposals';
import { queryRows } from './rows';
import type { StoredApproval } from './storedApprovals';
import type { ApprovalRow } from './tables';
import { lockTransaction, updateExecution } from './transactions';

/** Why an operator closes an approval, and whether it may still be closed, checked under its lock by the database's time. */
interface Closing {
  readonly reason: string;
  readonly details?: { readonly [key: string]: JsonValue };
  readonly mayClose: (locked: LockedApproval) => boolean;
}

/** An approval under its lock, with what closing it depends on. */
interface LockedApproval {
  readonly record: StoredApproval;
  readonly time: Date;
  readonly tally: ReturnType<typeof tally>;
  /** Part of it is done and cannot be undone. */
  readonly isPartlyDone: boolean;
  /** The details of its audit entries. */
  readonly about: { readonly [key: string]: JsonValue };
  /** Clears what its execution waits for. */
  clear(tx: Tx): Promise<unknown>;
}

/** Locks an approval of either subject. Undefined when it does not exist. */
export async function lockAnyApproval(tx: Tx, ref: ApprovalRef): Promise<LockedApproval | undefined> {
  if (ref.subject === 'proposal') {
    const locked = await lockProposal(tx, ref);
    if (!locked) return undefined;
    const { record, now } = locked;
    return {
      record,
      time: now.time,
      tally: tally(proposalRules, record, now),
      isPartlyDone: proposalRules.isPartlyDone(record),
      about: { resourceType: record.resourceType, action: record.action },
      clear: async () => undefined,
    };
  }
  const locked = await lockTransaction(tx, ref);
  if (!locked) return undefined;
  const { record, now } = locked;
  return {
    record,
    time: now.time,
    tally: tally(transactionRules, record, now),
    isPartlyDone: false,
    about: { accountId: record.accountId, networkId: record.networkId },
    clear: (inside) => updateExecution(inside, record, { awaitsRelayerWei: null }),
  };
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
    await locked.clear(tx);
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

/** Names an approval, and says what it asks for. */
export type SummarizedApproval = ApprovalRef & { readonly summary: string };

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
  const rows = await queryRows<RefColumns & Pick<ApprovalRow, 'summary'>>(
    db,
    `SELECT a.id, a.organization_id, a.subject, a.summary, p.resource_type, p.action
     FROM approvals a LEFT JOIN proposals p ON p.id = a.id
     WHERE a.organization_id = ? AND a.created_by = ? AND a.closed_at IS NULL
     ORDER BY a.subject, a.position DESC`,
    [organizationId, apiKeyId],
  );
  const closed: SummarizedApproval[] = [];
  const left: SummarizedApproval[] = [];
  for (const row of rows) {
    const ref = approvalRef(row);
    let goesOn = false;
    const isClosed = await closeApproval(db, ref, {
      reason,
      mayClose: ({ record, isPartlyDone }) => {
        goesOn = record.executionStatus === 'processing' || isPartlyDone;
        return !goesOn;
      },
    });
    if (isClosed) closed.push({ ...ref, summary: row.summary });
    else if (goesOn) left.push({ ...ref, summary: row.summary });
  }
  return { closed, left };
}
