import type { TransactionRef } from '../domain/transaction';
import { failpoint } from '../failpoints';
import { updateApproval } from './approvals';
import { clearOutcome } from './attemptOutcomes';
import { appendAudit, SYSTEM } from './audit';
import type { Db } from './database';
import { reopenUsage } from './policyUsage';
import { lockTransaction } from './transactions';

/**
 * Reopens a transaction whose attempt was decided in a block that the chain has lost: it is being executed again, its
 * budget is reserved again, its attempt undecided. One audited transaction. False when the transaction has
 * gone on since (a newer attempt, or rejected): then the attempt must no longer be executed.
 */
export async function reopenTransaction(
  db: Db,
  { organizationId, transactionId, attemptId }: TransactionRef & { attemptId: string },
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const locked = await lockTransaction(tx, { organizationId, id: transactionId });
    if (!locked) return false;
    const { record } = locked;
    const newest = await tx('chain_attempts')
      .where({ transaction_id: transactionId, kind: 'transaction' })
      .orderBy('id', 'desc')
      .first();
    if (!newest || String(newest.id) !== attemptId) return false;
    // Reopened already.
    if (newest.outcome === null) return true;
    if (record.executionStatus !== 'completed' && record.executionStatus !== 'failed') return false;
    await clearOutcome(tx, transactionId, attemptId);
    failpoint('chain.attemptReopened');
    await reopenUsage(tx, transactionId);
    failpoint('chain.usageReopened');
    await updateApproval(tx, transactionId, {
      executionStatus: 'processing',
      result: null,
      failure: null,
      waitingFor: null,
      reopened: true,
    });
    await appendAudit(tx, organizationId, [
      {
        action: 'transaction.reopened',
        actor: SYSTEM,
        resourceType: 'transaction',
        resourceId: transactionId,
        details: {
          reason: 'the chain has lost the block that decided it',
          before: { executionStatus: record.executionStatus, result: record.result as never },
        },
      },
    ]);
    return true;
  });
}
