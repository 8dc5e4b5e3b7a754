import type { Db, Tx } from '../../db/database';

/** The transactions that the signer has recorded as rejected. */
export function rejectedTransactions(db: Db | Tx): Promise<string[]> {
  return db('authorizations').where({ outcome: 'rejected' }).pluck('transaction_id');
}

/** The transactions that have a cancellation. */
export async function cancelledTransactions(db: Db | Tx): Promise<string[]> {
  const ids = await db('chain_attempts').where({ kind: 'cancellation' }).pluck('transaction_id');
  return ids.flatMap((id) => id ?? []);
}

/** How far the decisions of each organization go. */
export async function sealedSequences(db: Db | Tx): Promise<ReadonlyMap<string, number>> {
  const rows = await db('sealed_states').select('organization_id', 'sequence');
  return new Map(rows.map((row) => [row.organization_id, Number(row.sequence)]));
}
