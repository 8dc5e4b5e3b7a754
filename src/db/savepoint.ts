import type { Tx } from './database';

/** Marks a point in the transaction. */
export async function savepoint(tx: Tx, name: string): Promise<void> {
  await tx.raw('SAVEPOINT ??', [name]);
}

/** Undoes everything that the transaction did since a point. */
export async function rollbackTo(tx: Tx, name: string): Promise<void> {
  await tx.raw('ROLLBACK TO SAVEPOINT ??', [name]);
}
