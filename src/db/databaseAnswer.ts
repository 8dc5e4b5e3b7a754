import { DatabaseError } from 'pg';
import { withoutStatement } from './databaseFailure';

/** Why the database refuses to store or to do something, for operators, without its statement; undefined for other errors. */
export function refusedStatement(error: Error): string | undefined {
  if (!(error instanceof DatabaseError)) return undefined;
  const { code, table, detail } = error;
  const message = withoutStatement(error);
  if (code === '42501') {
    return `the database refuses this login: ${message}. See docs/production.md for what each login may do`;
  }
  if (code === '23505') return `${table} has it already, and nothing was changed: ${detail ?? message}`;
  return undefined;
}

/** Whether an error is an answer of Postgres. */
export function isOfDatabase(error: unknown): boolean {
  return error instanceof DatabaseError;
}
