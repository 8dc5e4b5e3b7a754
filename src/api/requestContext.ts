import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { Endpoint } from '../contract/endpoint';
import type { Credential } from '../db/credentials';
import type { RequestRef } from './idempotency';

/** A request that has passed every check that all endpoints share. */
export interface RequestContext<Query = unknown, Body = unknown> {
  readonly requestId: string;
  readonly credential: Credential;
  readonly organizationId: string;
  /** Path parameters, each of the shape of its kind of id. */
  readonly params: { readonly [name: string]: string };
  readonly query: Query;
  readonly body: Body;
  /** Until when the answer is sent, a time of `performance.now()`. */
  readonly deadlineMs: number;
  /** Ends the turn of a mutation before its answer: from here on it only waits. */
  readonly endTurn: () => void;
}

type ContextOf<E> =
  E extends Endpoint<infer Query, infer Body, infer _>
    ? RequestContext<z.output<Query>, z.output<Body>>
    : never;

type ResponseOf<E> = E extends Endpoint<infer _, infer __, infer Response> ? z.input<Response> : never;

/** The response of a mutation, apart from its status. */
export interface MutationAnswer<Response> {
  readonly body: Response;
  readonly location?: string | null;
}

/** The handler of a mutation: see MutationWork. */
interface MutationHandler<Context, Response> {
  check(context: Context): Promise<{ resourceId: string }>;
  send(context: Context, request: RequestRef): Promise<MutationAnswer<Response>>;
  /** Shows a proposal or transaction that the request has created, as it is now. Only where it creates one. */
  show?(context: Omit<Context, 'body'>, approvalId: string): Promise<MutationAnswer<Response>>;
}

/** An endpoint with its handler. */
export type Route =
  | {
      readonly endpoint: Endpoint;
      /** Returns the response as JSON text. */
      readonly read: (context: RequestContext) => Promise<string>;
    }
  | {
      readonly endpoint: Endpoint;
      readonly mutation: MutationHandler<RequestContext, unknown>;
    }
  | {
      readonly endpoint: Endpoint;
      readonly dryRun: (context: RequestContext) => Promise<unknown>;
    }
  | {
      readonly endpoint: Endpoint;
      /** Returns the response, unless it has begun one of its own. */
      readonly answer: (context: RequestContext, asked: Asked) => Promise<unknown>;
    };

/** A request with its response. */
export interface Asked {
  readonly request: Request;
  readonly response: Response;
}

/** The route of an endpoint that only reads. */
export function readRoute<E extends Endpoint>(
  endpoint: E,
  read: (context: ContextOf<E>) => Promise<ResponseOf<E>>,
): Route {
  return { endpoint, read: async (context) => JSON.stringify(await read(context as ContextOf<E>)) };
}

/** The same, of one whose responses are JSON text already. */
export function readTextRoute(endpoint: Endpoint, read: (context: RequestContext) => Promise<string>): Route {
  return { endpoint, read };
}

/** The route of an endpoint that changes something. */
export function mutationRoute<E extends Endpoint>(
  endpoint: E,
  mutation: MutationHandler<ContextOf<E>, ResponseOf<E>>,
): Route {
  return { endpoint, mutation: mutation as MutationHandler<RequestContext, unknown> };
}

/** The route of a dry run: it changes and stores nothing. */
export function dryRunRoute<E extends Endpoint>(
  endpoint: E,
  dryRun: (context: ContextOf<E>) => Promise<ResponseOf<E>>,
): Route {
  return { endpoint, dryRun: dryRun as (context: RequestContext) => Promise<unknown> };
}

/** The route of an endpoint that reads, and may wait or stream. */
export function answerRoute<E extends Endpoint>(
  endpoint: E,
  answer: (context: ContextOf<E>, asked: Asked) => Promise<ResponseOf<E> | undefined>,
): Route {
  return { endpoint, answer: (context, asked) => answer(context as ContextOf<E>, asked) };
}
