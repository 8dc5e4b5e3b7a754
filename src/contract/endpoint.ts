import type { z } from 'zod';
import type { ErrorCode } from '../domain/refusal';
import type { PathIdPrefix } from './primitives';

/** Where all endpoints live. */
export const BASE_PATH = '/api/v1';

/** Who may call: any key of the organization, or only one of an admin of type api. */
export type Access = 'read' | 'admin';

/** An area of the interface. */
export type Tag =
  | 'Members'
  | 'Groups'
  | 'Policies'
  | 'Accounts'
  | 'Transactions'
  | 'Admins'
  | 'AuditLogs'
  | 'Proposals'
  | 'Networks';

/** Everything that is known about one endpoint, apart from how it is carried out. */
export interface Endpoint<
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
> {
  /** Name of the operation, unique. */
  readonly id: string;
  readonly tag: Tag;
  readonly method: 'get' | 'post';
  /** Path below /api/v1, with `{name}` for each parameter. */
  readonly path: string;
  readonly access: Access;
  readonly summary: string;
  readonly description?: string;
  /** The kind of id that each path parameter is. */
  readonly params: { readonly [name: string]: PathIdPrefix };
  /** Strict schema of the query. */
  readonly query: Query;
  /** Strict schema of the body; none for GET. */
  readonly body?: Body;
  readonly response: Response;
  readonly status: 200 | 201;
  /** A POST that changes and stores nothing: its idempotency key is asked for and not kept. */
  readonly dryRun?: true;
  /** Error codes besides those that every endpoint has. */
  readonly errors: readonly ErrorCode[];
  readonly exampleBody?: unknown;
}

/** The error codes that every endpoint under /api/v1 has. */
export const COMMON_ERRORS: readonly ErrorCode[] = [
  'validationError',
  'unauthorized',
  'upgradeRequired',
  'rateLimited',
  'internalError',
];

/** The error codes that every POST has besides, unless it is a dry run. */
export const MUTATION_ERRORS: readonly ErrorCode[] = ['conflict', 'idempotencyConflict'];

/** Declares an endpoint; exists for the inference of its types. */
export function endpoint<Query extends z.ZodType, Body extends z.ZodType, Response extends z.ZodType>(
  declaration: Endpoint<Query, Body, Response>,
): Endpoint<Query, Body, Response> {
  return declaration;
}
