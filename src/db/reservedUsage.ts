import type { Db, Tx } from './database';
import { type UsageOfExecution, usageColumns } from './policyUsage';
import type { Statement } from './rows';

/** Reserves what an execution uses, before it starts. Call it with the budget locked. */
export function reserveUsage(db: Db | Tx, usage: UsageOfExecution): Statement {
  return db('policy_usage').insert(usageColumns(usage));
}

function usageOf(tx: Db | Tx, transactionId: string) {
  return tx('policy_usage').where({ transaction_id: transactionId });
}

/** The newest reservation of a transaction. */
function newestUsage(tx: Db | Tx, transactionId: string) {
  return tx('policy_usage').where('id', usageOf(tx, transactionId).max('id'));
}

/** Commits the newest reservation of a transaction, released or not: it counts from the time of its block. */
export function commitUsage(tx: Db | Tx, transactionId: string, blockAt: Date): Statement {
  return newestUsage(tx, transactionId).update({
    status: 'committed',
    block_at: blockAt,
    decided_at: tx.raw('now()'),
  });
}

/** Releases a reservation: it was not spent. */
export function releaseUsage(tx: Tx, transactionId: string): Statement {
  return usageOf(tx, transactionId)
    .where({ status: 'reserved' })
    .update({ status: 'released', decided_at: tx.raw('now()') });
}

/** Reopens the newest reservation of a transaction: the chain has lost its block. */
export async function reopenUsage(tx: Tx, transactionId: string): Promise<void> {
  await newestUsage(tx, transactionId).update({ status: 'reserved', block_at: null, decided_at: null });
}

/** Moves committed usage to the time of another block. */
export async function moveUsage(tx: Tx, transactionId: string, blockAt: Date): Promise<void> {
  await usageOf(tx, transactionId).where({ status: 'committed' }).update({ block_at: blockAt });
}
