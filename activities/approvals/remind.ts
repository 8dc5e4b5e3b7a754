import type { AnySnapshot, ApprovalSubject } from '../../src/approvals/approvalSubject';
import { appendAudit } from '../../src/db/audit';
import { insertMessage, reminderMessageId } from '../../src/db/receivedMessages';
import { SYSTEM } from '../../src/domain/actor';
import type { ApprovalKey } from '../../src/domain/approvalRef';
import type { ApprovalState } from '../../src/domain/approvalState';
import { missingVotes } from '../../src/domain/missingVotes';
import type { Reminder } from '../../src/domain/reminder';
import { approvalEntry } from './approvalEntry';
import type { ApprovalDeps } from './executableSubject';
import { lockOrRefuse } from './read';

/** Records once that people are to be reminded of an approval, where signatures are missing: an entry of the audit log alone. */
export async function recordReminder<V extends AnySnapshot, S extends ApprovalState>(
  { db }: Pick<ApprovalDeps, 'db'>,
  subject: ApprovalSubject<V, S>,
  { organizationId, id, reminder }: ApprovalKey & { readonly reminder: Reminder },
): Promise<S> {
  return db.transaction(async (tx) => {
    const messageId = reminderMessageId(reminder);
    const seen = await lockOrRefuse(tx, subject, { organizationId, id, messageId });
    const { record, now } = seen;
    if (!seen.messageTaken && missingVotes(subject.rules, record, now)) {
      await insertMessage(tx, id, messageId, 'remind');
      const expiresAt = record.expiresAt.toISOString();
      await appendAudit(tx, organizationId, [
        approvalEntry(subject, record, 'reminded', SYSTEM, { reminder, expiresAt }),
      ]);
    }
    return subject.state(seen);
  });
}
