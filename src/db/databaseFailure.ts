import type { Knex } from 'knex';
import { DatabaseError } from 'pg';

/** Statements that failed, by their error: knex writes them into its message. */
const statements = new WeakMap<object, string>();
/** An error of knex that quotes a statement before it is sent. */
const NOT_COMPILED = /^Undefined binding\(s\) detected/;
/**
 * Classes of errors (PostgreSQL, appendix A) whose message names tables, columns and constraints only: connection,
 * integrity, transaction state, rollback, resources, state, intervention, system, and a missing privilege. Others may
 * quote a value or a part of the statement.
 */
const NAMES_ONLY = /^(08|23|25|40|53|55|57|58)|^42501$/;

/** Notes the statement of each error that a pool throws. */
export function noteFailedStatements(db: Knex): void {
  db.on('query-error', (error: object, { sql }: { sql: string }) => statements.set(error, sql));
}

/** The message of an error without the statement that knex writes before it. */
export function withoutStatement(error: Error): string {
  const statement = statements.get(error);
  return statement === undefined ? error.message : error.message.replace(`${statement} - `, '');
}

/** Errors of a server that cannot serve now: connection, resources, intervention (such as: it starts up), read-only. */
const NOT_NOW = /^(08|53|57)|^25006$/;

/** Whether an error says that Postgres does not answer or cannot serve now, and not that it refuses something. */
export function isUnavailable(error: unknown): boolean {
  return !(error instanceof DatabaseError) || NOT_NOW.test(error.code ?? '');
}

/** A failure of the database as it may be shown outside: its message has neither SQL nor values. */
export class DatabaseFailure extends Error {
  /** `Postgres` and the SQLSTATE, or the code of a broken connection. */
  override readonly name: string;
  readonly table?: string | undefined;
  readonly column?: string | undefined;
  readonly constraint?: string | undefined;
  /** The statement with `$1`, `$2`, … instead of values, for the log. */
  readonly statement?: string | undefined;

  constructor(error: Error) {
    const { code } = error as NodeJS.ErrnoException;
    const statement = statements.get(error);
    const text = withoutStatement(error);
    const isShown = error instanceof DatabaseError ? NAMES_ONLY.test(code ?? '') : statement !== undefined;
    super(isShown ? `the database reports: ${text}` : 'the database refuses a statement; the log has it');
    this.name = code === undefined ? 'Postgres' : `Postgres ${code}`;
    this.statement = statement ?? (NOT_COMPILED.test(error.message) ? error.message : undefined);
    if (error instanceof DatabaseError) {
      this.table = error.table;
      this.column = error.column;
      this.constraint = error.constraint;
    }
  }
}

/** The errors that an error consists of, itself first. */
function* chainOf(error: unknown): Generator<Error> {
  if (!(error instanceof Error)) return;
  yield error;
  yield* chainOf(error.cause);
  if (error instanceof AggregateError) for (const part of error.errors) yield* chainOf(part);
}

/** An error as it may be shown outside: a DatabaseFailure if it is, or was caused by, one of the database. */
export function withoutSql(error: unknown): unknown {
  for (const part of chainOf(error)) {
    if (part instanceof DatabaseError || statements.has(part) || NOT_COMPILED.test(part.message)) {
      return new DatabaseFailure(part);
    }
  }
  return error;
}
