import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { type EIP1193RequestFn, HttpRequestError, RpcRequestError, TimeoutError } from 'viem';

/** A call of a method of a node. */
export type RpcRequest = Parameters<EIP1193RequestFn>[0];

/**
 * Calls a method of a node. Throws RpcRequestError with the node's own error, HttpRequestError where it has not answered,
 * and TimeoutError.
 */
export type CallNode = (request: RpcRequest) => Promise<unknown>;

/** How a node is called. */
export interface CallOptions {
  /** How long an HTTP request may take, to the end of its response. */
  readonly timeoutMs: number;
  /** How many calls share an HTTP request at most. */
  readonly batchSize: number;
}

/** A call as it is sent. Source: JSON-RPC 2.0. */
type Call = {
  readonly jsonrpc: '2.0';
  readonly id: number;
  readonly method: string;
  readonly params?: unknown;
};

interface Answer {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const MAX_RESPONSE_BYTES = 10_485_760;
/** Connections idle for 4 s are closed: many nodes do it after 5 s. */
const KEEP_ALIVE = { keepAlive: true, timeout: 4_000 } as const;
const SCHEMES = {
  'http:': { send: httpRequest, agent: new HttpAgent(KEEP_ALIVE) },
  'https:': { send: httpsRequest, agent: new HttpsAgent(KEEP_ALIVE) },
} as const;
/** Statuses without an answer, whatever the body says: no access, a time limit, a rate limit. So is any 5xx. */
const NO_ANSWER: readonly number[] = [401, 403, 408, 429];

async function readText(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_RESPONSE_BYTES) throw new Error(`the response exceeds ${MAX_RESPONSE_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** Sends a request; resolves with the beginning of its response. */
function begin(sent: ClientRequest, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once('response', resolve).on('error', reject).end(body);
  });
}

/** Posts JSON on a kept connection; again where the node has closed that one. */
async function post(url: URL, body: string, signal: AbortSignal): Promise<HttpResponse> {
  const { send, agent } = SCHEMES[url.protocol as keyof typeof SCHEMES];
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
  const sent = send(url, { method: 'POST', agent, headers, signal });
  let response: IncomingMessage;
  try {
    response = await begin(sent, body);
  } catch (error) {
    // Sending twice is harmless: it is a read, or signed bytes, which take effect once.
    if (!(sent.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET')) throw error;
    return post(url, body, signal);
  }
  const { statusCode: status = 0, headers: received } = response;
  return { status, headers: received, text: await readText(response) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isError(error: unknown): error is NonNullable<Answer['error']> {
  return typeof error === 'object' && error !== null && 'code' in error && 'message' in error;
}

/** Whether JSON answers one call. */
function isAnswer(json: unknown): json is Answer {
  if (typeof json !== 'object' || json === null) return false;
  return 'result' in json || ('error' in json && isError(json.error));
}

function headersOf(headers: IncomingHttpHeaders): Headers {
  const pairs = Object.entries(headers).flatMap(([name, values = []]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
  return new Headers(pairs);
}

/** The answers of a node to calls: one for each, or one error for all. */
async function callTogether(
  url: string,
  calls: readonly Call[],
  { timeoutMs, isBatch }: { readonly timeoutMs: number; readonly isBatch: boolean },
): Promise<readonly Answer[]> {
  const errorOf = (details: string, response?: HttpResponse) =>
    new HttpRequestError({
      url,
      body: [...calls],
      details,
      ...(response ? { status: response.status, headers: headersOf(response.headers) } : {}),
    });
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  try {
    const response = await post(new URL(url), JSON.stringify(isBatch ? calls : calls[0]), timeout.signal);
    const { status, text } = response;
    const answers = [parsed(text)].flat();
    if (NO_ANSWER.includes(status) || status >= 500) throw errorOf(`status ${status}`, response);
    if (answers.length === 0 || !answers.every(isAnswer)) {
      throw errorOf(`status ${status}, and the response is not JSON-RPC`, response);
    }
    return answers;
  } catch (error) {
    if (error instanceof HttpRequestError) throw error;
    if (timeout.signal.aborted) throw new TimeoutError({ url, body: [...calls] });
    const { code, message } = error as NodeJS.ErrnoException;
    throw errorOf(code ?? message);
  } finally {
    clearTimeout(timer);
  }
}

interface Waiting {
  readonly call: Call;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Sends calls; each is answered, or fails. */
async function sendTogether(url: string, waiting: readonly Waiting[], { timeoutMs, batchSize }: CallOptions) {
  try {
    const calls = waiting.map(({ call }) => call);
    const isBatch = batchSize > 1;
    const answers = await callTogether(url, calls, { timeoutMs, isBatch });
    const [first = {}] = answers;
    const isOfAll = !isBatch || (answers.length === 1 && first.error !== undefined);
    for (const { call, resolve, reject } of waiting) {
      const answer = isOfAll ? first : answers.find(({ id }) => id === call.id);
      if (answer) resolve(answer);
      else
        reject(
          new HttpRequestError({ url, body: [call], details: 'the response has no answer to this call' }),
        );
    }
  } catch (error) {
    for (const { reject } of waiting) reject(error);
  }
}

/** Calls the node at `url` on kept connections; in batches where `batchSize` is above 1. */
export function jsonRpc(url: string, options: CallOptions): CallNode {
  let lastId = 0;
  let waiting: Waiting[] = [];

  function send(): void {
    const together = waiting;
    waiting = [];
    if (together.length > 0) void sendTogether(url, together, options);
  }

  return async ({ method, params }) => {
    lastId += 1;
    const call: Call = { jsonrpc: '2.0', id: lastId, method, params };
    const answer = await new Promise<Answer>((resolve, reject) => {
      waiting.push({ call, resolve, reject });
      // Calls of the same turn of the event loop share a batch.
      if (waiting.length >= options.batchSize) send();
      else if (waiting.length === 1) setImmediate(send);
    });
    if (answer.error) throw new RpcRequestError({ url, body: call, error: answer.error });
    return answer.result;
  };
}
