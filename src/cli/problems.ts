import { isNativeError } from 'node:util/types';
import { isGrpcServiceError } from '@temporalio/client';
import { CommanderError } from 'commander';
import { ChainUnavailable } from '../chain/clients';
import { KeystoreError } from '../chain/keys';
import { ConfigError } from '../configError';
import { ApiKeyError } from '../credentials/apiKeys';
import { refusedStatement } from '../db/databaseAnswer';
import { withoutStatement } from '../db/databaseFailure';
import { SchemaChanged } from '../db/migrate';
import { JournalError } from '../signer/journal/entries';
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
  return /(relation|column|function) .+ does not exist/.test(message);
}

/** What a refused call to the system of this host means, by Node's code. */
const FILE_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EISDIR: 'is a folder',
  ENOTDIR: 'a part of its path is not a folder',
  EEXIST: 'exists already',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the device',
};

/** Why a file cannot be used, by Node's code; undefined for other codes. */
export function fileProblem(code: string | undefined): string | undefined {
  return code === undefined ? undefined : FILE_PROBLEMS[code];
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
  if (lacksSchema(message)) return `${message}: run \`./orgwallet db migrate\` first`;
  return undefined;
}

/** The text of an error for the operator who ran the command. */
export function problemText(error: unknown): string {
  if (!isNativeError(error)) return String(error);
  if (error instanceof TemporalUnavailable) {
    return `${error.message}: check Temporal and the workers with \`./orgwallet doctor\``;
  }
  // A connection to a name with several addresses fails with one error for each.
  const [cause = error] = 'errors' in error ? (error.errors as Error[]) : [];
  if (isGrpcServiceError(cause)) return `Temporal refuses or does not answer: ${cause.details}`;
  const code = (cause as NodeJS.ErrnoException).code ?? '';
  const { path } = cause as NodeJS.ErrnoException;
  const onFile = path === undefined ? undefined : fileProblem(code);
  if (onFile !== undefined) return `${path}: ${onFile}`;
  return refusedStatement(cause) ?? databaseProblem(code, withoutStatement(cause)) ?? cause.message;
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
    error instanceof TemporalUnavailable ||
    error instanceof SchemaChanged ||
    error instanceof ChainUnavailable
  );
}
