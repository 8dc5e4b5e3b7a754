import type { AnySnapshot, ApprovalSubject } from '../../src/approvals/approvalSubject';
import { SYSTEM } from '../../src/domain/actor';
import type { ApprovalKey } from '../../src/domain/approvalRef';
import type { ApprovalState } from '../../src/domain/approvalState';
import type { TemporarilyRefused } from '../../src/signer/refusal';
import { approvalEntry } from './approvalEntry';
import type { ApprovalDeps } from './executableSubject';
import { changeApproval, lockOrRefuse } from './read';

/** What an execution waits for (null: nothing). `reason`: the signer holds it, because the database contradicts it. */
export interface Waiting {
  readonly waitingFor: string | null;
  readonly reason?: TemporarilyRefused['reason'];
}

/** Stores what an execution waits for, audited where the database contradicts the signer. */
export async function reportWaiting<V extends AnySnapshot, S extends ApprovalState>(
  { db }: Pick<ApprovalDeps, 'db'>,
  subject: ApprovalSubject<V, S>,
  { organizationId, id, waitingFor, reason }: ApprovalKey & Waiting,
): Promise<S> {
  return db.transaction(async (tx) => {
    const seen = await lockOrRefuse(tx, subject, { organizationId, id });
    const { record } = seen;
    if (record.executionStatus !== 'processing' || record.waitingFor === waitingFor) {
      return subject.state(seen);
    }
    return changeApproval(tx, subject, seen, { waitingFor }, [
      ...(reason ? [approvalEntry(subject, record, 'signingStopped', SYSTEM, { reason, waitingFor })] : []),
    ]);
  });
}
