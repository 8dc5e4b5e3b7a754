import { isNativeError } from 'node:util/types';
import { CommanderError } from 'commander';
import { KeystoreError } from '../chain/keys';
import { ConfigError } from '../config';
import { ApiKeyError } from '../db/apiKeys';
import { TemporalUnavailable } from '../temporal/client';
import { CommandRefused } from './output';

const REFUSED = 1;
const WRONG_USE = 2;

const AWAY = new Set(['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);

/** True for what Postgres says of a database that was never migrated, or not to this version. */
export function lacksSchema(message: string): boolean {
  return /(relation|column) "?\S+ does not exist|role "orgwallet_\w+" does not exist/.test(message);
}

function databaseProblem(code: string, message: string): string | undefined {
  if (
    AWAY.has(code) ||
    /Knex: Timeout|Connection terminated|timeout expired|Query read timeout/.test(message)
  ) {
    return `the database cannot be reached: ${message || code}`;
  }
  if (/^(28|3D|57P)/.test(code)) return `the database refuses: ${message}`;
  if (lacksSchema(message)) return `${message}: run \`npx orgwallet db migrate\` first`;
  return undefined;
}

/** What to say of an error, in words for whoever typed the command. */
export function problemText(error: unknown): string {
  if (!isNativeError(error)) return String(error);
  if (error instanceof TemporalUnavailable) {
    return `${error.message}: see \`npx orgwallet doctor\` for whether Temporal and the workers are there`;
  }
  // Connecting to a name with several addresses fails with one error for each of them.
  const [cause = error] = 'errors' in error ? (error.errors as Error[]) : [];
  const code = (cause as NodeJS.ErrnoException).code ?? '';
  return databaseProblem(code, cause.message) ?? cause.message;
}

/** The exit status that an error ends a command with: 0 (help was asked for), 1 (refused) or 2 (wrong use). */
export function exitStatus(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USE;
  return REFUSED;
}

/** True for an error that says by itself all there is to say. */
export function isExpected(error: unknown): boolean {
  return (
    error instanceof CommandRefused ||
    error instanceof ConfigError ||
    error instanceof ApiKeyError ||
    error instanceof KeystoreError ||
    error instanceof TemporalUnavailable
  );
}
