import type { z } from 'zod';
import type { ErrorCode } from '../domain/refusal';
import type { PathIdPrefix } from '../domain/schemas';

/** Everything about one endpoint for the browsers of people, which is at the root of the service, except its handler. */
export interface SessionEndpoint<Body extends z.ZodType = z.ZodType, Response extends z.ZodType = z.ZodType> {
  /** Name of the operation, unique among all endpoints. */
  readonly id: string;
  readonly method: 'get' | 'post' | 'delete';
  /** Path at the root, with `{name}` for each parameter. */
  readonly path: string;
  /** Whether it needs the cookie of a session. */
  readonly needsSession: boolean;
  readonly summary: string;
  readonly description: string;
  /** The kind of id that each path parameter is. */
  readonly params: { readonly [name: string]: PathIdPrefix };
  readonly body?: Body;
  /** A valid body; for an endpoint with one. */
  readonly exampleBody?: unknown;
  readonly response: Response;
  readonly status: 200 | 201;
  /** Whether every success sets or clears the cookie. */
  readonly setsCookie: boolean;
  /** Error codes besides those of every such endpoint. */
  readonly errors: readonly ErrorCode[];
}

/** The error codes of every endpoint of sessions. */
export const SESSION_ERRORS: readonly ErrorCode[] = [
  'validationError',
  'forbidden',
  'notFound',
  'upgradeRequired',
  'rateLimited',
  'internalError',
  'notReconciled',
];

/** Declares an endpoint and infers its types. Most answer JSON to a session, and leave the cookie as it is. */
export function sessionEndpoint<Body extends z.ZodType, Response extends z.ZodType>(
  declaration: Pick<
    SessionEndpoint<Body, Response>,
    'id' | 'method' | 'path' | 'summary' | 'description' | 'response'
  > &
    Partial<SessionEndpoint<Body, Response>>,
): SessionEndpoint<Body, Response> {
  return {
    needsSession: true,
    params: {},
    status: 200,
    setsCookie: false,
    errors: ['unauthorized'],
    ...declaration,
  };
}
