import { faultPoint } from '../faults';
import { clearOutcome } from './attemptOutcomes';
import { appendAudit, SYSTEM } from './audit';
import type { Db } from './database';
import { reopenUsage } from './policyUsage';
import { lockTransaction, type TransactionKey, updateTransaction } from './transactions';

/**
 * Takes back what an attempt had decided, because the chain has lost its block: the transaction is being executed
 * again, its budget is reserved again, its attempt undecided. One audited transaction. False when the transaction has
 * gone on since (a newer attempt, or rejected): then the attempt must not come to anything any more.
 */
export async function reopenTransaction(
  db: Db,
  { organizationId, transactionId, attemptId }: TransactionKey & { attemptId: string },
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const locked = await lockTransaction(tx, { organizationId, transactionId });
    if (!locked) return false;
    const { record } = locked;
    const attempts: { id: bigint; kind: string; outcome: string | null }[] = await tx('chain_attempts')
      .where({ transaction_id: transactionId, kind: 'transaction' })
      .orderBy('id', 'desc')
      .limit(1);
    const [newest] = attempts;
    if (!newest || String(newest.id) !== attemptId) return false;
    // Somebody was faster: it is being looked after already.
    if (newest.outcome === null) return true;
    if (record.executionStatus !== 'completed' && record.executionStatus !== 'failed') return false;
    await clearOutcome(tx, transactionId, attemptId);
    faultPoint('chain.attemptReopened');
    await reopenUsage(tx, transactionId);
    faultPoint('chain.usageReopened');
    await updateTransaction(tx, transactionId, {
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
