import type { z } from 'zod';
import type { ErrorCode } from '../domain/refusal';
import type { PathParameter } from '../domain/schemas';

/** The path prefix of all endpoints. */
export const BASE_PATH = '/api/v1';

/** Who may call: any key of the organization, or only a key of an admin of type `api`. */
type Access = 'read' | 'admin';

/** An area of the API. */
export type Tag =
  | 'Members'
  | 'Groups'
  | 'Policies'
  | 'Accounts'
  | 'Transactions'
  | 'Admins'
  | 'AuditLogs'
  | 'Events'
  | 'Proposals'
  | 'Networks'
  | 'AddressBook'
  | 'Recipients'
  | 'Webhooks'
  | 'Fees'
  | 'Movements';

/** Everything about one endpoint except its handler. */
export interface Endpoint<
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
> {
  /** Name of the operation, unique. */
  readonly id: string;
  readonly tag: Tag;
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** Path below /api/v1, with `{name}` for each parameter. */
  readonly path: string;
  readonly access: Access;
  readonly summary: string;
  readonly description?: string;
  /** What each path parameter is. */
  readonly params: { readonly [name: string]: PathParameter };
  /** Strict schema of the query. */
  readonly query: Query;
  /** Strict schema of the body; none for GET and DELETE. */
  readonly body?: Body;
  readonly response: Response;
  readonly status: 200 | 201;
  /** What it streams (server-sent events) to who accepts `text/event-stream`, as text. */
  readonly stream?: z.ZodType;
  /** What it streams (RFC 4180) to who accepts `text/csv`, as text. */
  readonly csv?: z.ZodType;
  /** A POST that stores nothing: its idempotency key is required and not kept. */
  readonly dryRun?: true;
  /** Error codes besides those of every endpoint. */
  readonly errors: readonly ErrorCode[];
  /** A valid body; for every endpoint with one. */
  readonly exampleBody?: unknown;
}

/** The error codes of every endpoint under /api/v1. */
export const COMMON_ERRORS: readonly ErrorCode[] = [
  'validationError',
  'unauthorized',
  'forbidden',
  'upgradeRequired',
  'rateLimited',
  'internalError',
  'notReconciled',
];

/** The further error codes of every POST that is not a dry run. */
export const MUTATION_ERRORS: readonly ErrorCode[] = ['conflict', 'idempotencyConflict'];

/** Whether an endpoint changes something, and needs an idempotency key that is kept. */
export function isMutation({ method, dryRun }: Pick<Endpoint, 'method' | 'dryRun'>): boolean {
  return method !== 'get' && !dryRun;
}

/** Declares an endpoint and infers its types. */
export function endpoint<Query extends z.ZodType, Body extends z.ZodType, Response extends z.ZodType>(
  declaration: Endpoint<Query, Body, Response>,
): Endpoint<Query, Body, Response> {
  return declaration;
}
