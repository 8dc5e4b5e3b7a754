import { updateApproval } from '../../src/db/approvals';
import { countReopening, decidingBlockHash, reopenAttempts } from '../../src/db/attemptOutcomes';
import { appendAudit } from '../../src/db/audit';
import type { Db, Tx } from '../../src/db/database';
import { reopenUsage } from '../../src/db/reservedUsage';
import { lockTransaction, updateExecution } from '../../src/db/transactions';
import { SYSTEM } from '../../src/domain/actor';
import type { TransactionRef } from '../../src/domain/transaction';
import { failpoint } from '../../src/failpoints';

/**
 * Reopens a transaction that was decided in a block that the chain has lost: it is being executed again, its budget is
 * reserved again, what was signed for it is undecided. One audited transaction.
 * With `lostBlockHash`, nothing happens where another block has decided it since. `cancels` is asked about one that had failed:
 * why it is to be cancelled instead of executed, or null. Returns true where the transaction is `processing` then.
 */
export async function reopenTransaction(
  db: Db,
  ref: TransactionRef,
  {
    lostBlockHash,
    cancels,
  }: {
    readonly lostBlockHash?: string | null;
    readonly cancels?: (tx: Tx, ref: TransactionRef) => Promise<string | null>;
  } = {},
): Promise<boolean> {
  const { organizationId, transactionId } = ref;
  return db.transaction(async (tx) => {
    const locked = await lockTransaction(tx, { organizationId, id: transactionId });
    if (!locked) throw new Error(`transaction ${transactionId} not found`);
    const { record } = locked;
    // Reopened already.
    if (record.executionStatus === 'processing') return true;
    if (lostBlockHash !== undefined && (await decidingBlockHash(tx, transactionId)) !== lostBlockHash)
      return false;
    await countReopening(tx, transactionId);
    await reopenAttempts(tx, transactionId);
    failpoint('chain.attemptReopened');
    await reopenUsage(tx, transactionId);
    failpoint('chain.usageReopened');
    const before = { executionStatus: record.executionStatus, result: record.result as never };
    const reason = record.executionStatus === 'failed' ? ((await cancels?.(tx, ref)) ?? null) : null;
    if (reason !== null) await updateExecution(tx, record, { cancelling: true });
    const entry = { actor: SYSTEM, resourceType: 'transaction', resourceId: transactionId } as const;
    await updateApproval(tx, transactionId, {
      executionStatus: 'processing',
      result: null,
      failure: null,
      waitingFor: null,
      reopened: true,
    });
    await appendAudit(tx, organizationId, [
      {
        ...entry,
        action: 'transaction.reopened',
        details: { reason: 'the chain has lost the block that decided it', before },
      },
      ...(reason === null
        ? []
        : [{ ...entry, action: 'transaction.cancellationRequested' as const, details: { reason } }]),
    ]);
    return true;
  });
}
