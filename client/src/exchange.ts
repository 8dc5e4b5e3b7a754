import { faultText } from './connectionFault.ts';
import type { CallOptions } from './endpoints.ts';
import { ApiError, type ErrorCode, NoAnswer } from './errors.ts';
import { parsedJson } from './parsedJson.ts';

/** Where the service is, and how it is called. */
export interface Connection {
  /** The address of the API, such as `https://localhost:8443/api/v1`. */
  readonly baseUrl: string;
  /** Absent: the browser's cookie of a session says who calls. */
  readonly apiKey?: string;
  /** How long a call may take with all its retries, in ms; 60,000 by default. */
  readonly timeoutMs?: number;
  /** How long an action may take with all its calls, retries and waits, in ms; no limit of its own by default. */
  readonly totalTimeoutMs?: number;
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

/** Options of a call within an action: `deadline` is the end of its whole time, by `performance.now()`. */
export interface ActionOptions extends CallOptions {
  readonly deadline?: number | undefined;
}

/** The options of an action, whose whole time begins now. */
export function withDeadline(
  options: ActionOptions,
  { totalTimeoutMs: given }: Pick<Connection, 'totalTimeoutMs'>,
): ActionOptions {
  const { deadline, totalTimeoutMs = given } = options;
  return totalTimeoutMs === undefined || deadline !== undefined
    ? options
    : { ...options, deadline: performance.now() + totalTimeoutMs };
}

type Refused = [ErrorCode, status: number, message: string, details: object, requestId: string | undefined];

/** The outcome of one try: the body of the response, or why it is repeated. */
type Try =
  | { readonly body: unknown }
  | { readonly refused: Refused; readonly afterMs?: number | undefined }
  | { readonly reason: string; readonly cause?: unknown; readonly afterMs?: number | undefined };

/** What `Retry-After` asks for, in ms: seconds, or a date. Source: RFC 9110, section 10.2.3. */
function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after');
  const ms = Number(text) * 1_000 || Date.parse(text ?? '') - Date.now();
  return ms > 0 ? ms : undefined;
}

/** The statuses of refusals that say nothing about an earlier try: its idempotency key was not looked at. */
const NOT_ADMITTED: readonly number[] = [401, 403];

/** Reads a response. Throws ApiError for a final refusal. `openKey`: the idempotency key of earlier tries without an answer. */
function readResponse(response: Response, text: string, openKey: string | undefined): Try {
  const { status, url, headers, ok } = response;
  const body = parsedJson(text) as
    | { error?: { code: ErrorCode; message: string; details?: object } }
    | undefined;
  if (ok) return body ? { body } : { reason: `${status} without JSON` };
  const answered = `${url} answered ${status} without an API error`;
  // What stands before the service refuses for the same reasons, in its own words.
  const byStatus = status === 429 ? 'rateLimited' : status >= 500 ? 'internalError' : undefined;
  const { code = byStatus, message = answered, details } = body?.error ?? {};
  if (!code) throw new NoAnswer(`${answered} (is baseUrl correct?)`, openKey);
  const afterMs = retryAfterOf(headers);
  const requestId = headers.get('x-request-id') ?? undefined;
  const refused: Refused = [code, status, message, Object(details), requestId];
  const idempotencyKey = NOT_ADMITTED.includes(status) ? openKey : undefined;
  const error = new ApiError(...refused, { retryAfterMs: afterMs, idempotencyKey });
  if (error.isTemporary) return { refused, afterMs };
  throw error;
}

/** The largest response that is read. */
const MAX_RESPONSE_MIB = 256;

/** The body of a response as text. Throws NoAnswer where it is larger than any answer: it may have no end. */
async function textOf({ body, url }: Response, openKey: string | undefined): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  const reader = body?.getReader();
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    if (bytes > MAX_RESPONSE_MIB * 2 ** 20) {
      reader.cancel().catch(() => undefined);
      throw new NoAnswer(`${url} answered with more than ${MAX_RESPONSE_MIB} MiB`, openKey);
    }
    text += decoder.decode(value, { stream: true });
  }
  return text + decoder.decode();
}

async function tryOnce(
  url: string,
  init: RequestInit,
  {
    fetcher,
    signal,
    idempotencyKey,
    isRepeated,
  }: {
    fetcher: typeof fetch;
    signal: AbortSignal | undefined;
    idempotencyKey: string | undefined;
    isRepeated: boolean;
  },
): Promise<Try> {
  let response: Response;
  let text: string;
  try {
    response = await fetcher(url, init);
    text = await textOf(response, idempotencyKey);
  } catch (cause) {
    if (cause instanceof NoAnswer) throw cause;
    signal?.throwIfAborted();
    return { reason: faultText(url, cause, idempotencyKey), cause };
  }
  return readResponse(response, text, isRepeated ? idempotencyKey : undefined);
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
    redirect: 'manual',
  };
}

/**
 * Sends a request until there is a final answer: again after a broken connection, a timeout, a 5xx, a 429 or a 409 with
 * Retry-After, a POST always with the same idempotency key, so that it takes effect once. Throws ApiError, NoAnswer,
 * NotConnected, and the reason of an aborted signal.
 */
export async function send(
  connection: Connection,
  exchange: Exchange,
  options: ActionOptions = {},
): Promise<unknown> {
  const { requestTimeoutMs = 30_000, fetch: fetcher = fetch } = connection;
  const { signal, timeoutMs = connection.timeoutMs ?? 60_000 } = options;
  const { method, path } = exchange;
  const idempotencyKey = method !== 'GET' ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined;
  const init = initOf(connection, exchange, idempotencyKey);
  const startedAt = performance.now();
  const { deadline: end = Number.POSITIVE_INFINITY } = withDeadline(options, connection);
  const deadline = Math.min(startedAt + timeoutMs, end);
  let tried: Exclude<Try, { body: unknown }> = { reason: 'it was not sent' };
  for (let tries = 0; performance.now() < deadline; tries += 1) {
    signal?.throwIfAborted();
    const leftMs = Math.ceil(deadline - performance.now());
    const timeout = AbortSignal.timeout(Math.min(requestTimeoutMs, leftMs));
    const until = signal ? AbortSignal.any([signal, timeout]) : timeout;
    const url = `${connection.baseUrl}${path}`;
    const asked = { fetcher, signal, idempotencyKey, isRepeated: tries > 0 };
    const outcome = await tryOnce(url, { ...init, signal: until }, asked);
    if ('body' in outcome) return outcome.body;
    // The last answer says more than that there was none to a later try.
    if ('refused' in outcome || !('refused' in tried)) tried = outcome;
    const pauseMs = outcome.afterMs ?? Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries);
    if (performance.now() + pauseMs > deadline) break;
    await pause(pauseMs, signal);
  }
  if ('refused' in tried)
    throw new ApiError(...tried.refused, { retryAfterMs: tried.afterMs, idempotencyKey });
  const message = `no final answer to ${method} ${path} within ${Math.round(deadline - startedAt)} ms: ${tried.reason}`;
  throw new NoAnswer(message, idempotencyKey, { cause: tried.cause });
}
