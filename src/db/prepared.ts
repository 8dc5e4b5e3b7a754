import type { Client } from 'pg';
import { isStalePlan } from './connections';
import { type Db, keepsPrepared, requireConnections } from './database';

/** A statement that each connection plans once, at its first use (not through a pooler): for what every request does. */
export interface PreparedStatement {
  readonly name: string;
  /** With parameters `$1`, `$2`, … */
  readonly text: string;
}

async function run<T>(db: Db, { name, text }: PreparedStatement, values: readonly unknown[]): Promise<T[]> {
  const connection: Client & { readonly __knexUid: string } = await db.client.acquireConnection();
  try {
    const prepared = keepsPrepared(db) ? { name } : {};
    return (await connection.query({ ...prepared, text, values: [...values] })).rows;
  } catch (error) {
    requireConnections(db).noteFailure(connection.__knexUid, error);
    throw error;
  } finally {
    await db.client.releaseConnection(connection);
  }
}

/**
 * Runs a prepared statement on a connection of the pool; once more on a new one, where a migration has changed a table
 * since it was planned (in a transaction, whoever began it repeats it). `T` is what its text selects.
 */
export async function runPrepared<T>(
  db: Db,
  statement: PreparedStatement,
  values: readonly unknown[],
): Promise<T[]> {
  try {
    return await run(db, statement, values);
  } catch (error) {
    if (!isStalePlan(error) || db.isTransaction) throw error;
    return run(db, statement, values);
  }
}
