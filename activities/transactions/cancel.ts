import { updateApproval } from '../../src/db/approvals';
import { appendAudit } from '../../src/db/audit';
import { insertMessage } from '../../src/db/receivedMessages';
import { updateExecution } from '../../src/db/transactions';
import { OPERATOR } from '../../src/domain/actor';
import { refuse } from '../../src/domain/refusal';
import type { TransactionState } from '../../src/domain/transactionState';
import { failpoint } from '../../src/failpoints';
import type { MessageResult } from '../../src/temporal/messages';
import type { ApprovalDeps, MessageInput } from '../approvals/executableSubject';
import { lockOrRefuse, readApprovalState } from '../approvals/read';
import { catchRefusal } from '../approvals/refusals';
import { executableTransaction as subject } from './executableTransaction';

/** Records an operator's request to cancel the in-flight attempt. Refuses with conflict when there is none. */
export async function requestCancellation(
  { db }: Pick<ApprovalDeps, 'db'>,
  input: MessageInput,
): Promise<MessageResult<TransactionState>> {
  return catchRefusal(() =>
    db.transaction(async (tx): Promise<MessageResult<TransactionState>> => {
      const seen = await lockOrRefuse(tx, subject, input);
      const { record, messageTaken } = seen;
      if (messageTaken) return { ok: true, state: subject.state(seen) };
      if (record.executionStatus !== 'processing') {
        return refuse(
          'conflict',
          `transaction ${record.id} is ${record.executionStatus}, not being executed: there is nothing to cancel`,
        );
      }
      await insertMessage(tx, record.id, input.messageId, 'cancel');
      await updateExecution(tx, record, { cancelling: true });
      await updateApproval(tx, record.id, {});
      failpoint('worker.cancellationRequested');
      const state = await readApprovalState(tx, subject, record);
      await appendAudit(tx, record.organizationId, [
        {
          action: 'transaction.cancellationRequested',
          actor: OPERATOR,
          resourceType: 'transaction',
          resourceId: record.id,
          details: { ...subject.about(record), attempt: record.executionAttempt },
        },
      ]);
      return { ok: true, state };
    }),
  );
}
