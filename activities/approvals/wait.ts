import type { AnySnapshot, ApprovalSubject } from '../../src/approvals/subject';
import type { ApprovalState } from '../../src/domain/approval';
import type { ApprovalKey } from '../../src/domain/approvalRef';
import { changeApproval, lockOrRefuse } from './read';
import type { ApprovalDeps } from './subject';

/** Stores what an execution waits for (null: nothing). */
export async function reportWaiting<V extends AnySnapshot, S extends ApprovalState>(
  { db }: Pick<ApprovalDeps, 'db'>,
  subject: ApprovalSubject<V, S>,
  { organizationId, id, waitingFor }: ApprovalKey & { readonly waitingFor: string | null },
): Promise<S> {
  return db.transaction(async (tx) => {
    const seen = await lockOrRefuse(tx, subject, { organizationId, id });
    const { record } = seen;
    if (record.executionStatus !== 'processing' || record.waitingFor === waitingFor) {
      return subject.state(seen);
    }
    return changeApproval(tx, subject, seen, { waitingFor }, []);
  });
}
