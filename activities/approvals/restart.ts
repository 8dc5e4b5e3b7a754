import type { AnySnapshot, ApprovalSubject } from '../../src/approvals/approvalSubject';
import { appendAudit } from '../../src/db/audit';
import { insertMessage, restartedMessageId } from '../../src/db/receivedMessages';
import { SYSTEM } from '../../src/domain/actor';
import type { ApprovalKey } from '../../src/domain/approvalRef';
import type { ApprovalState } from '../../src/domain/approvalState';
import type { WorkflowGone } from '../../src/domain/reconciliation';
import { approvalEntry } from './approvalEntry';
import type { ApprovalDeps } from './executableSubject';
import { lockOrRefuse } from './read';

/** Records once per run that the workflow of an open approval was restarted, and why. In histories and tables it is `restored`. */
export async function recordRestart<V extends AnySnapshot, S extends ApprovalState>(
  { db }: Pick<ApprovalDeps, 'db'>,
  subject: ApprovalSubject<V, S>,
  input: ApprovalKey & { readonly found: WorkflowGone; readonly runId: string },
): Promise<S> {
  const { organizationId, id, found, runId } = input;
  return db.transaction(async (tx) => {
    const messageId = restartedMessageId(runId);
    const seen = await lockOrRefuse(tx, subject, { organizationId, id, messageId });
    if (seen.messageTaken || seen.record.closed) return subject.state(seen);
    await insertMessage(tx, id, messageId, 'restore');
    await appendAudit(tx, organizationId, [
      approvalEntry(subject, seen.record, 'restored', SYSTEM, { found: { ...found }, startedRunId: runId }),
    ]);
    return subject.state(seen);
  });
}
