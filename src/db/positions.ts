import type { Tx } from './database';

/** Gives new records their positions in the order of commit: the positions of the audit entries of their creation. */
export async function setPositions(
  tx: Tx,
  table: 'members' | 'groups' | 'policies' | 'approvals' | 'transactions' | 'address_book_entries',
  ids: readonly string[],
  positions: readonly bigint[],
): Promise<void> {
  await tx.raw(
    `UPDATE ${table} SET position = v.position
    FROM unnest(?::text[], ?::bigint[]) AS v (id, position) WHERE ${table}.id = v.id`,
    [[...ids], positions.map(String)],
  );
  // Lists of transactions are read in the order of their own table as well.
  if (table === 'approvals') await setPositions(tx, 'transactions', ids, positions);
}
