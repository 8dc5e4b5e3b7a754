import type { CallOptions } from './endpoints.ts';
import { ApiError, type ErrorCode, NoAnswer } from './errors.ts';

/** Where the service is, and how it is called. */
export interface Connection {
  /** The address of the API, such as `https://localhost:8443/api/v1`. */
  readonly baseUrl: string;
  /** Absent: the browser's cookie of a session says who calls. */
  readonly apiKey?: string;
  /** How long a call may take with all its retries, in ms; 60,000 by default. */
  readonly timeoutMs?: number;
  /** How long one request may take, in ms; 30,000 by default. */
  readonly requestTimeoutMs?: number;
  /** Replaces the `fetch` of the platform. */
  readonly fetch?: typeof fetch;
}

/** A request to one endpoint. */
export interface Exchange {
  readonly method: string;
  /** Below the base URL, with its id and query. */
  readonly path: string;
  readonly body?: unknown;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

/** Resolves after a time. Rejects with the reason of the signal once it is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

/** The outcome of one try: the body of the response, or why it is repeated. */
type Try =
  | { readonly body: unknown }
  | { readonly reason: string; readonly cause?: unknown; readonly afterMs?: number | undefined };

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRepeatable({ status, headers }: Response): boolean {
  // A 409 with Retry-After: the first request with this idempotency key still runs.
  return status === 429 || status >= 500 || (status === 409 && headers.has('retry-after'));
}

/** Reads a response. Throws ApiError for a final refusal. */
function readResponse(response: Response, text: string): Try {
  const body = parsed(text) as { error?: { code: ErrorCode; message: string; details?: object } } | undefined;
  if (response.ok && body) return { body };
  const { code, message, details = {} } = body?.error ?? {};
  const seconds = Number(response.headers.get('retry-after'));
  if (isRepeatable(response) || response.ok) {
    const reason = `${response.status}${code ? ` ${code}: ${message}` : ''}`;
    return { reason, afterMs: seconds > 0 ? seconds * 1_000 : undefined };
  }
  if (!code) {
    const answered = `${response.url} answered ${response.status} without an API error`;
    throw new NoAnswer(`${answered} (is baseUrl correct?)`, undefined);
  }
  const requestId = response.headers.get('x-request-id') ?? undefined;
  throw new ApiError(code, response.status, message ?? '', details, requestId);
}

async function tryOnce(
  url: string,
  init: RequestInit,
  fetcher: typeof fetch,
  signal: AbortSignal | undefined,
): Promise<Try> {
  let response: Response;
  let text: string;
  try {
    response = await fetcher(url, init);
    text = await response.text();
  } catch (cause) {
    signal?.throwIfAborted();
    const { message, cause: reason } = cause as Error;
    return { reason: reason instanceof Error ? `${message}: ${reason.message}` : message, cause };
  }
  return readResponse(response, text);
}

/** The parts of a request that all its retries have. */
function initOf(
  { apiKey }: Connection,
  { method, body }: Exchange,
  idempotencyKey: string | undefined,
): RequestInit {
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const key = idempotencyKey === undefined ? {} : { 'x-idempotency-key': idempotencyKey };
  const authorization = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  return {
    method,
    headers: { ...authorization, ...json, ...key },
    ...(apiKey === undefined ? { credentials: 'same-origin' } : {}),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    // The key goes nowhere else.
    redirect: 'error',
  };
}

/**
 * Sends a request until there is a final answer: again after a broken connection, a timeout, a 5xx, a 429 or a 409 with
 * Retry-After, a POST always with the same idempotency key, so that it takes effect once. Throws ApiError, NoAnswer, and
 * the reason of an aborted signal.
 */
export async function send(
  connection: Connection,
  exchange: Exchange,
  options: CallOptions = {},
): Promise<unknown> {
  const { requestTimeoutMs = 30_000, fetch: fetcher = fetch } = connection;
  const { signal, timeoutMs = connection.timeoutMs ?? 60_000 } = options;
  const { method, path } = exchange;
  const idempotencyKey = method === 'POST' ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined;
  const init = initOf(connection, exchange, idempotencyKey);
  const deadline = performance.now() + timeoutMs;
  for (let tries = 0; ; tries += 1) {
    signal?.throwIfAborted();
    const leftMs = Math.max(1, Math.ceil(deadline - performance.now()));
    const timeout = AbortSignal.timeout(Math.min(requestTimeoutMs, leftMs));
    const until = signal ? AbortSignal.any([signal, timeout]) : timeout;
    const tried = await tryOnce(`${connection.baseUrl}${path}`, { ...init, signal: until }, fetcher, signal);
    if ('body' in tried) return tried.body;
    const pauseMs = tried.afterMs ?? Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries);
    if (performance.now() + pauseMs > deadline) {
      const message = `no final answer to ${method} ${path} within ${timeoutMs} ms: ${tried.reason}`;
      throw new NoAnswer(message, idempotencyKey, { cause: tried.cause });
    }
    await pause(pauseMs, signal);
  }
}
