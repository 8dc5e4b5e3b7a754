import type { Client } from 'pg';
import type { Db } from './database';

/** A statement that each connection plans once, for reads that happen on every request. */
export interface PreparedStatement {
  readonly name: string;
  /** With parameters `$1`, `$2`, … */
  readonly text: string;
}

/** Runs a prepared statement on a connection of the pool. `T` is what its text selects. */
export async function runPrepared<T>(
  db: Db,
  { name, text }: PreparedStatement,
  values: readonly unknown[],
): Promise<T[]> {
  const connection: Client = await db.client.acquireConnection();
  try {
    return (await connection.query({ name, text, values: [...values] })).rows;
  } finally {
    await db.client.releaseConnection(connection);
  }
}
