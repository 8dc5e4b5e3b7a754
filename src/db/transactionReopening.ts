import type { TransactionRef } from '../domain/transaction';
import { failpoint } from '../failpoints';
import { updateApproval } from './approvals';
import { decidingBlockHash, reopenAttempts } from './attemptOutcomes';
import { appendAudit, SYSTEM } from './audit';
import type { Db } from './database';
import { reopenUsage } from './policyUsage';
import { lockTransaction } from './transactions';

/**
 * Reopens a transaction that was decided in a block that the chain has lost: it is being executed again, its budget is
 * reserved again, what was signed for it is undecided. One audited transaction.
 * With `lostBlockHash`, nothing happens where another block has decided it since. True: it is being executed.
 */
export async function reopenTransaction(
  db: Db,
  { organizationId, transactionId }: TransactionRef,
  lostBlockHash?: string | null,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const locked = await lockTransaction(tx, { organizationId, id: transactionId });
    if (!locked) throw new Error(`transaction ${transactionId} not found`);
    const { record } = locked;
    // Reopened already.
    if (record.executionStatus === 'processing') return true;
    if (lostBlockHash !== undefined && (await decidingBlockHash(tx, transactionId)) !== lostBlockHash)
      return false;
    await tx('transactions').where({ id: transactionId }).increment('reopenings');
    await reopenAttempts(tx, transactionId);
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
