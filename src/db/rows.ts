import type { Knex } from 'knex';

type Bindings = readonly Knex.RawBinding[] | Knex.ValueDict;

/** The rows of a statement. `T` is what its text selects. */
export async function queryRows<T>(db: Knex, sql: string, bindings: Bindings = []): Promise<T[]> {
  const { rows }: { rows: T[] } = await db.raw(sql, bindings);
  return rows;
}

/**
 * The rows of a statement whose text has parameters `$1`, `$2`, …, each of which may be used several times. `T` is what its
 * text selects.
 */
export async function queryNumbered<T>(db: Knex, sql: string, values: readonly unknown[]): Promise<T[]> {
  const connection = await db.client.acquireConnection();
  try {
    const { response } = await db.client.query(connection, { sql, bindings: [...values] });
    return response.rows;
  } finally {
    await db.client.releaseConnection(connection);
  }
}

/** The columns of a row that are read. */
export type Columns<Row> = Readonly<Record<keyof Row & string, true>>;

/**
 * The columns of a table as a statement selects them, each by its name: a column that a migration adds changes neither
 * the statement nor its plan.
 */
export function columnsOf<Row>(alias: string, columns: Columns<Row>): string[] {
  return Object.keys(columns).map((column) => `${alias}.${column}`);
}

/** The same, as SQL. */
export function selected<Row>(alias: string, columns: Columns<Row>): string {
  return columnsOf(alias, columns).join(', ');
}

/** Runs a statement and returns how many rows it changed or selected. */
export async function execute(db: Knex, sql: string, bindings: Bindings = []): Promise<number> {
  const { rowCount }: { rowCount: number | null } = await db.raw(sql, bindings);
  return rowCount ?? 0;
}

/** A statement that is built and not executed yet: awaiting it executes it. */
export type Statement = Knex.QueryBuilder;

/** A statement whose rows others of the same statement can use by a name. */
export interface NamedStatement {
  readonly name: string;
  readonly statement: Knex.Raw | Knex.QueryBuilder;
}

/** What is executed in the same round trip with another statement. */
export type BatchedStatement = Statement | NamedStatement;

/**
 * Combines statements into one (CTEs of `statement`). They share a snapshot and have no order: none may read in a table or
 * change there what another writes.
 */
export function combineStatements(statement: Statement, batch: readonly BatchedStatement[]): Statement {
  return batch.reduce<Statement>(
    (whole, one, index) =>
      'name' in one ? whole.withRecursive(one.name, one.statement) : whole.with(`batch_${index}`, one),
    statement,
  );
}

/** Executes statements as one, with those that are `beside` them; nothing where there is no other. */
export async function executeBatch(
  [first, ...others]: readonly Statement[],
  beside: readonly NamedStatement[] = [],
): Promise<void> {
  if (first) await combineStatements(first, [...others, ...beside]);
}

const UNIQUE_VIOLATION = '23505';

/** Whether an error says that a table has such a row already. */
export function isDuplicateIn(table: string, error: unknown): boolean {
  const found = error as { readonly code?: unknown; readonly table?: unknown };
  return found.code === UNIQUE_VIOLATION && found.table === table;
}

/** The row of a statement that always returns one. */
export function requireRow<T>(row: T): NonNullable<T> {
  if (row === undefined || row === null) throw new Error('the database returned no row');
  return row;
}
