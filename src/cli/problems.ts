import { isNativeError } from 'node:util/types';
import { CommanderError } from 'commander';
import { KeystoreError } from '../chain/keys';
import { ConfigError } from '../config';
import { ApiKeyError } from '../db/apiKeys';
import { JournalError } from '../journal/entries';
import { TemporalUnavailable } from '../temporal/client';
import { CommandRefused } from './output';

const REFUSED = 1;
const WRONG_USE = 2;

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
]);

/** True for Postgres's error about a database that is not migrated to this version. */
export function lacksSchema(message: string): boolean {
  return /(relation|column) "?\S+ does not exist/.test(message);
}

function databaseProblem(code: string, message: string): string | undefined {
  if (
    UNREACHABLE.has(code) ||
    /Knex: Timeout|Connection terminated|timeout expired|Query read timeout/.test(message)
  ) {
    return `the database cannot be reached: ${message || code}`;
  }
  if (code === '55P03')
    return `a table is in use for too long, and nothing was changed (${message}): run it again`;
  if (/^(28|3D|57P)/.test(code)) return `the database refused the connection: ${message}`;
  if (/^role "orgwallet_\w+" does not exist/.test(message)) {
    return `${message}: create the database logins first (docs/production.md)`;
  }
  if (lacksSchema(message)) return `${message}: run \`npx orgwallet db migrate\` first`;
  return undefined;
}

/** The text of an error for the operator who ran the command. */
export function problemText(error: unknown): string {
  if (!isNativeError(error)) return String(error);
  if (error instanceof TemporalUnavailable) {
    return `${error.message}: check Temporal and the workers with \`npx orgwallet doctor\``;
  }
  // A connection to a name with several addresses fails with one error for each.
  const [cause = error] = 'errors' in error ? (error.errors as Error[]) : [];
  const code = (cause as NodeJS.ErrnoException).code ?? '';
  return databaseProblem(code, cause.message) ?? cause.message;
}

/** The exit status for an error: 0 (help), 1 (refused) or 2 (wrong use). */
export function exitStatus(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USE;
  return REFUSED;
}

/** True for an error whose message is complete without a stack trace. */
export function isExpected(error: unknown): boolean {
  return (
    error instanceof CommandRefused ||
    error instanceof ConfigError ||
    error instanceof ApiKeyError ||
    error instanceof KeystoreError ||
    error instanceof JournalError ||
    error instanceof TemporalUnavailable
  );
}
