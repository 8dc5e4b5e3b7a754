import type { Knex } from 'knex';

type Bindings = readonly Knex.RawBinding[] | Knex.ValueDict;

/** The rows of a statement. `T` is what its text selects. */
export async function queryRows<T>(db: Knex, sql: string, bindings: Bindings = []): Promise<T[]> {
  const { rows }: { rows: T[] } = await db.raw(sql, bindings);
  return rows;
}

/** Runs a statement and returns how many rows it changed or selected. */
export async function execute(db: Knex, sql: string, bindings: Bindings = []): Promise<number> {
  const { rowCount }: { rowCount: number | null } = await db.raw(sql, bindings);
  return rowCount ?? 0;
}

/** The row of a statement that always returns one. */
export function requireRow<T>(row: T): NonNullable<T> {
  if (row === undefined || row === null) throw new Error('the database returned no row');
  return row;
}
