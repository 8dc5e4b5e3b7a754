import { touchApproval } from '../db/approvals';
import { appendAudit } from '../db/audit';
import { holdCredential } from '../db/authority';
import type { Db } from '../db/database';
import { answerLocked, lockRequest, type StoredAnswer } from '../db/idempotency';
import type { TransactionSnapshot } from '../db/storedTransactions';
import { lockTransaction, readTransaction, updateReferences } from '../db/transactions';
import { memberActor } from '../domain/actor';
import { canonicalJson } from '../domain/canonicalJson';
import { checkAuthority, credentialDetail, credentialEnded, requestNotStored } from '../domain/credential';
import type { ReferenceChange, References } from '../domain/references';
import { accept, type Result, refuse } from '../domain/refusal';
import type { TransactionRef } from '../domain/transaction';

/** A request to change the references of a transaction. */
interface ReferenceRequest extends TransactionRef {
  readonly requestId: string;
  readonly credentialId: string;
  readonly change: ReferenceChange;
}

const changeable = ({ metadata, tags }: References) => ({ metadata, tags: [...tags] });

/**
 * Replaces metadata or tags of a transaction, open or closed, audited, and stores the answer of the request, all in one
 * transaction: sent again, it finds its answer. What is so already is not written. Refuses with unauthorized once the
 * credential has ended.
 */
export async function changeReferences(
  db: Db,
  { organizationId, transactionId, requestId, credentialId, change }: ReferenceRequest,
  answerOf: (snapshot: TransactionSnapshot) => StoredAnswer,
): Promise<Result<StoredAnswer>> {
  return db.transaction(async (tx) => {
    const seen = await lockTransaction(tx, { organizationId, id: transactionId });
    if (!seen) return refuse('notFound', 'transaction not found in this organization');
    const answered = await lockRequest(tx, requestId);
    if (answered) return accept(answered);
    if (answered === undefined) return { ok: false, refusal: requestNotStored() };
    const acting = await holdCredential(tx, credentialId);
    if (!acting) return { ok: false, refusal: credentialEnded(credentialId) };
    const refusal = checkAuthority(credentialId, acting, false);
    if (refusal) return { ok: false, refusal };
    const { record } = seen;
    const before = changeable(record.references);
    const after = changeable({ ...record.references, ...change });
    if (canonicalJson(before) !== canonicalJson(after)) {
      await touchApproval(tx, record.id, [updateReferences(tx, record, change)]);
      const { accountId, networkId } = record;
      await appendAudit(tx, organizationId, [
        {
          action: 'transaction.referencesChanged',
          actor: memberActor(acting),
          resourceType: 'transaction',
          resourceId: record.id,
          details: { ...credentialDetail(credentialId), accountId, networkId, before, after },
        },
      ]);
    }
    const changed = await readTransaction(tx, { organizationId, transactionId });
    if (!changed) throw new Error(`transaction ${transactionId} was changed, and is not there`);
    const answer = answerOf(changed);
    await answerLocked(tx, requestId, answer);
    return accept(answer);
  });
}
