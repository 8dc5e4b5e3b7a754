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
/** What is idle for longer is closed, before the node does it. */
const KEPT = { keepAlive: true, timeout: 4_000 } as const;
const SCHEMES = {
  'http:': { send: httpRequest, agent: new HttpAgent(KEPT) },
  'https:': { send: httpsRequest, agent: new HttpsAgent(KEPT) },
} as const;
/** Statuses whose responses are no answers, whatever they contain: no access, a limit. A failure (5xx) is none either. */
const REFUSALS: readonly number[] = [401, 403, 408, 429];

async function readText(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_RESPONSE_BYTES) throw new Error(`a response of more than ${MAX_RESPONSE_BYTES} bytes`);
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

/** Posts JSON on a connection that is kept. */
async function post(url: URL, body: string, late: AbortSignal): Promise<HttpResponse> {
  const { send, agent } = SCHEMES[url.protocol as keyof typeof SCHEMES];
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
  const sent = send(url, { method: 'POST', agent, headers, signal: late });
  let response: IncomingMessage;
  try {
    response = await begin(sent, body);
  } catch (error) {
    // The node has closed the connection meanwhile. What is sent twice is a read, or bytes that have their effect once.
    if (!(sent.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET')) throw error;
    return post(url, body, late);
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

/** What a node answers to calls: to each, or, where it refuses all of them, one answer. */
async function exchange(
  url: string,
  calls: readonly Call[],
  { timeoutMs, isBatch }: { readonly timeoutMs: number; readonly isBatch: boolean },
): Promise<readonly Answer[]> {
  const failed = (details: string, response?: HttpResponse) =>
    new HttpRequestError({
      url,
      body: [...calls],
      details,
      ...(response ? { status: response.status, headers: headersOf(response.headers) } : {}),
    });
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  try {
    const response = await post(new URL(url), JSON.stringify(isBatch ? calls : calls[0]), late.signal);
    const { status, text } = response;
    const answers = [parsed(text)].flat();
    if (REFUSALS.includes(status) || status >= 500) throw failed(`status ${status}`, response);
    if (!answers.every(isAnswer)) throw failed('the response is not JSON-RPC', response);
    return answers;
  } catch (error) {
    if (error instanceof HttpRequestError) throw error;
    if (late.signal.aborted) throw new TimeoutError({ url, body: [...calls] });
    const { code, message } = error as NodeJS.ErrnoException;
    throw failed(code ?? message);
  } finally {
    clearTimeout(timer);
  }
}

interface Waiting {
  readonly call: Call;
  readonly answered: (answer: Answer) => void;
  readonly failed: (error: unknown) => void;
}

/** Sends calls; each is answered, or fails. */
async function sendTogether(url: string, waiting: readonly Waiting[], { timeoutMs, batchSize }: CallOptions) {
  try {
    const calls = waiting.map(({ call }) => call);
    const isBatch = batchSize > 1;
    const answers = await exchange(url, calls, { timeoutMs, isBatch });
    const [first = {}] = answers;
    const isOfAll = !isBatch || (answers.length === 1 && first.error !== undefined);
    for (const { call, answered, failed } of waiting) {
      const answer = isOfAll ? first : answers.find(({ id }) => id === call.id);
      if (answer) answered(answer);
      else failed(new HttpRequestError({ url, body: [call], details: 'the response lacks an answer' }));
    }
  } catch (error) {
    for (const { failed } of waiting) failed(error);
  }
}

/** Calls the node at an address over HTTP, on connections that are kept; in batches, where it takes them. */
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
    const answer = await new Promise<Answer>((answered, failed) => {
      waiting.push({ call, answered, failed });
      if (waiting.length >= options.batchSize) send();
      // What is called in the same turn goes along.
      else if (waiting.length === 1) setImmediate(send);
    });
    if (answer.error) throw new RpcRequestError({ url, body: call, error: answer.error });
    return answer.result;
  };
}
