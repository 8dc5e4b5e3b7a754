import { randomUUID } from 'node:crypto';
import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import type { Credential } from '../db/credentials';
import type { Metrics } from '../metrics';
import { clientAddress } from './clientAddress';
import { errorBodyOf, pathNotFound, Refused, unavailable } from './refusals';

/** How long a request may take, in milliseconds. */
const REQUEST_TIMEOUT_MS = 25_000;

const SANE_REQUEST_ID = /^[A-Za-z0-9._-]{1,100}$/;

/** What is known about a request while it is being answered. */
export interface Exchange {
  readonly requestId: string;
  /** See `clientAddress`. */
  readonly client: string;
  /** Times of `performance.now()`. */
  readonly startedAtMs: number;
  readonly deadlineMs: number;
  /** True once the server stops: then the connection is not kept for another request. */
  readonly stopping: () => boolean;
  /** The logger of the service: its lines do not name the request. See `logOf`. */
  readonly logger: Logger;
  credential?: Credential;
  /** Template of the path, for metrics and logs. */
  route: string;
  /** The approval in its path, as log lines name it. */
  approval?: { readonly proposalId: string } | { readonly transactionId: string };
  resourceId?: string;
  /** Throws Refused where the answer may be one of another database: asked before it is sent. Undefined: it cannot be. */
  confirm?: () => Promise<void> | undefined;
  /** When the answer began whose end is not awaited; a time of `performance.now()`. */
  streamedAtMs?: number;
  /** For how long it has waited for something to happen, in ms: not counted as its time. */
  heldMs?: () => number;
  /** Moves the time-out so much later, in ms. */
  prolong: (ms: number) => void;
}

/** A caller in logs. */
function callerOf({ kind, organizationId, id }: Credential) {
  return { organizationId, ...(kind === 'apiKey' ? { apiKeyId: id } : { sessionId: id }) };
}

/** What every line of the log says of a request. */
function identityOf({ requestId, credential, approval }: Exchange) {
  return { requestId, ...(credential ? callerOf(credential) : {}), ...approval };
}

/** A logger whose lines say which request they are about. */
export function logOf(exchange: Exchange): Logger {
  return exchange.logger.child(identityOf(exchange));
}

/** The id that the caller gave its request, or a new one. */
export function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : randomUUID();
}

/** The headers of every answer. */
export function answerHeaders(requestId: string): { readonly [name: string]: string } {
  return { 'X-Request-Id': requestId, 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' };
}

/** Begins the exchange: assigns its id and time-out, and records its end in log and metrics. */
export function beginExchange(
  request: Request,
  response: Response,
  options: { logger: Logger; metrics: Metrics; stopping: () => boolean },
): Exchange {
  const requestId = requestIdOf(request.headers['x-request-id']);
  const startedAtMs = performance.now();
  const exchange: Exchange = {
    requestId,
    client: clientAddress(request),
    startedAtMs,
    deadlineMs: startedAtMs + REQUEST_TIMEOUT_MS - 1_000,
    stopping: options.stopping,
    logger: options.logger,
    route: 'unknown',
    prolong(ms) {
      clearTimeout(timer);
      timer = setTimeout(timeOut, REQUEST_TIMEOUT_MS + ms);
    },
  };
  response.locals.exchange = exchange;
  for (const [name, value] of Object.entries(answerHeaders(requestId))) response.setHeader(name, value);
  const timeOut = () => {
    sendRefusal(request, response, unavailable('the request timed out; send the same request again'));
  };
  let timer = setTimeout(timeOut, REQUEST_TIMEOUT_MS);
  response.once('close', () => {
    clearTimeout(timer);
    const endedAtMs = exchange.streamedAtMs ?? performance.now();
    const ms = Math.round(endedAtMs - startedAtMs - (exchange.heldMs?.() ?? 0));
    const { method } = request;
    const status = finalStatus(response);
    options.metrics.observeHttp({ method, route: exchange.route, status, seconds: ms / 1_000 });
    exchange.logger.info(
      {
        ...identityOf(exchange),
        method,
        route: exchange.route,
        status,
        ms,
        client: exchange.client,
        ...(exchange.resourceId === undefined ? {} : { resourceId: exchange.resourceId }),
      },
      'request',
    );
  });
  return exchange;
}

/** The exchange of a response that has begun. */
export function exchangeOf(response: Response): Exchange {
  return response.locals.exchange as Exchange;
}

/** Has an answer wait for something to happen, so long at most (ms). Returns what ends it. */
export function holdAnswer(response: Response, ms: number): () => void {
  const exchange = exchangeOf(response);
  const sinceMs = performance.now();
  let untilMs: number | undefined;
  exchange.prolong(ms);
  exchange.heldMs = () => (untilMs ?? performance.now()) - sinceMs;
  return () => {
    untilMs = performance.now();
  };
}

/** Begins an answer that goes on until either side ends it: its time is the one until it began. */
export function beginStream(response: Response): void {
  exchangeOf(response).streamedAtMs = performance.now();
}

/** The status of a closed response: 499 where the caller has left before the end. */
export function finalStatus(response: Response): number {
  const exchange = response.locals.exchange as Exchange | undefined;
  const isComplete = response.writableFinished || exchange?.streamedAtMs !== undefined;
  return isComplete ? response.statusCode : 499;
}

/** Sends JSON text, unless a response has been sent. HEAD receives only the headers. */
export function sendJson(request: Request, response: Response, status: number, text: string): void {
  if (response.headersSent) return;
  const exchange = response.locals.exchange as Exchange | undefined;
  const confirming = status < 500 ? exchange?.confirm?.() : undefined;
  if (exchange && confirming) {
    delete exchange.confirm;
    confirming.then(
      () => sendJson(request, response, status, text),
      (error) =>
        sendRefusal(
          request,
          response,
          refusalOf(error, () => logOf(exchange)),
        ),
    );
    return;
  }
  response.statusCode = status;
  // With a `Connection` header of the application, Node keeps a connection open that the caller wants closed.
  if (exchange?.stopping() || !response.shouldKeepAlive) {
    const upgrades = String(response.getHeader('Connection') ?? '').startsWith('Upgrade');
    response.setHeader('Connection', upgrades ? 'Upgrade, close' : 'close');
  }
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(request.method === 'HEAD' ? undefined : text);
}

/** Sends a refusal, in the form that all errors have. */
export function sendRefusal(request: Request, response: Response, refused: Refused): void {
  if (response.headersSent) return;
  for (const [name, value] of Object.entries(refused.headers)) response.setHeader(name, value);
  sendJson(request, response, refused.status, JSON.stringify(errorBodyOf(refused)));
}

/** Converts a thrown error into a refusal. An unexpected error is logged and not disclosed. */
export function refusalOf(error: unknown, log: () => Logger): Refused {
  if (error instanceof Refused) {
    if (error.status >= 500) log().error({ err: error.cause ?? error }, error.message);
    return error;
  }
  if (error instanceof URIError || (error as { status?: number }).status === 400) {
    return pathNotFound();
  }
  log().error({ err: error }, 'request failed');
  return unavailable('the service is unavailable; send the same request again');
}
