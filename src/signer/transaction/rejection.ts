import { EndpointsMissing } from '../../chain/signatures';
import { checkExecution } from '../../domain/approval';
import { accept, type Result, refuse } from '../../domain/refusal';
import { type TransactionRef, transactionRules } from '../../domain/transaction';
import { failpoint } from '../../failpoints';
import { usageOf } from '../../transactions/policy';
import { assertIds } from '../input';
import type { RejectionEntry } from '../journal/entries';
import { reportRefusal, SignerRefusal, TemporaryRefusal } from '../refusal';
import type { SignerContext } from '../signerContext';
import { findAuthorizationOutcome, insertRejection } from '../store/signedAuthorizations';
import { assertSameContent } from './evidence';
import { rejectionEntries } from './journaled';
import { readSealedTransaction } from './record';
import { verifiedVotes, withVerifiedVotes } from './votes';

function isSigned({ transactionId }: TransactionRef) {
  return refuse('conflict', `transaction ${transactionId} is signed for its chain`);
}

/**
 * Verifies a rejection and records it in one database transaction, unless it is recorded. Returns the record that is
 * rejected.
 */
async function recordOnce(
  context: SignerContext,
  ref: TransactionRef,
): Promise<Result<readonly RejectionEntry[]>> {
  const before = await readSealedTransaction(context, context.db, ref);
  const votes = before ? await verifiedVotes(context, before, 'reject') : [];
  return context.db.transaction(async (tx) => {
    const { transactionId } = ref;
    const seen = await readSealedTransaction(context, tx, ref, { lock: 'share' });
    if (!seen) return refuse('notFound', `transaction ${transactionId} not found`);
    const { record, now } = seen;
    if (before) assertSameContent(before.record, record);
    // Recorded before a crash or a failover: what is recorded as rejected is never authorized, whoever has recorded it.
    const isRecorded =
      context.journal.isRejected(transactionId) ||
      (await findAuthorizationOutcome(tx, transactionId)) === 'rejected';
    if (isRecorded) {
      await insertRejection(tx, usageOf(record));
      // Its votes are not verified again, and so neither is its expiry.
      return accept(await rejectionEntries(context, tx, { ...record, expiresAt: null }));
    }
    const checked = checkExecution(transactionRules, record, now, 'reject');
    if (!checked.ok) return checked;
    const verified = withVerifiedVotes(record, votes);
    if (!checkExecution(transactionRules, verified, now, 'reject').ok) {
      return refuse('conflict', `the signer found too few valid rejections of transaction ${transactionId}`);
    }
    const outcome = await insertRejection(tx, usageOf(record));
    failpoint('signer.rejectionStored');
    if (outcome === 'rejected') return accept(await rejectionEntries(context, tx, record));
    return isSigned(ref);
  });
}

/**
 * Records that a transaction is rejected, in the one row that its authorization would take, and then in the journal:
 * nothing of it is signed for its chain afterwards, whatever the service's records say, or have lost. Trusts nothing: every
 * rejection is verified again. Idempotent. Refuses as the execution of the rejection does; throws ChainUnavailable.
 */
export async function recordRejection(context: SignerContext, ref: TransactionRef): Promise<Result<null>> {
  try {
    assertIds(ref, 'organizationId', 'transactionId');
    const { journal, pending } = context;
    if (journal.authorizationOf(ref.transactionId) || pending.has(ref.transactionId)) return isSigned(ref);
    const recorded = await recordOnce(context, ref);
    if (!recorded.ok) return recorded;
    // From memory: a failover may have lost the row by now, and the journal has it all the same.
    await journal.append(...recorded.value);
    return accept(null);
  } catch (error) {
    if (error instanceof TemporaryRefusal) reportRefusal(context, error.reason, error.message);
    if (error instanceof EndpointsMissing || error instanceof SignerRefusal) {
      return refuse('conflict', error.message);
    }
    throw error;
  }
}
