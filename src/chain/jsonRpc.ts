import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { type EIP1193RequestFn, HttpRequestError, RpcRequestError, TimeoutError } from 'viem';
import { chunksOf } from '../domain/chunks';

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
  /** How many calls share an HTTP request at most; fewer, or one, where the node refuses so many. */
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
  /** The connection that it came on. */
  readonly connection: Socket;
}

/** How long it is remembered how many calls a node takes in one request. */
const TAKEN_MS = 3_600_000;
const MAX_RESPONSE_BYTES = 10_485_760;
/** Connections idle for 4 s are closed: many nodes do it after 5 s. */
const KEEP_ALIVE = { keepAlive: true, timeout: 4_000 } as const;
const SCHEMES = {
  'http:': { send: httpRequest, agent: new HttpAgent(KEEP_ALIVE) },
  'https:': { send: httpsRequest, agent: new HttpsAgent(KEEP_ALIVE) },
} as const;
/** Some gateways refuse requests without a User-Agent. */
const HEADERS = {
  'Content-Type': 'application/json',
  Accept: 'application/json',
  'Accept-Encoding': 'identity',
  'User-Agent': 'orgwallet',
} as const;
/** Statuses without an answer, whatever the body says: no access, a time limit, a rate limit. So is any 5xx. */
const NO_ANSWER: readonly number[] = [401, 403, 408, 429];

/** A response is longer than is read. */
class ResponseTooLong extends Error {
  constructor(readonly response: Pick<HttpResponse, 'status' | 'headers'>) {
    super(`the response exceeds ${MAX_RESPONSE_BYTES} bytes`);
  }
}

async function readText(response: IncomingMessage): Promise<string> {
  const { statusCode: status = 0, headers } = response;
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_RESPONSE_BYTES) throw new ResponseTooLong({ status, headers });
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** Sends a request; resolves with the beginning of its response. */
function begin(sent: ClientRequest, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent
      .once('response', resolve)
      .on('error', reject)
      // Without an error where the node switches to another protocol.
      .once('close', () => reject(new Error('the node has closed the connection')))
      .end(body);
  });
}

/** Posts JSON on a kept connection; once more, on a new one, where the node has closed that. */
async function post(url: URL, body: string, signal: AbortSignal, isAgain = false): Promise<HttpResponse> {
  const { send, agent } = SCHEMES[url.protocol as keyof typeof SCHEMES];
  const sent = send(url, {
    method: 'POST',
    agent: isAgain ? false : agent,
    headers: { ...HEADERS, 'Content-Length': Buffer.byteLength(body) },
    signal,
  });
  let response: IncomingMessage;
  try {
    response = await begin(sent, body);
  } catch (error) {
    // Sending twice is harmless: it is a read, or signed bytes, which take effect once.
    if (!(sent.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET')) throw error;
    return post(url, body, signal, true);
  }
  const { statusCode: status = 0, headers, socket: connection } = response;
  return { status, headers, text: await readText(response), connection };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isError(error: unknown): error is NonNullable<Answer['error']> {
  if (typeof error !== 'object' || error === null) return false;
  const { code, message } = error as Partial<NonNullable<Answer['error']>>;
  return typeof code === 'number' && typeof message === 'string';
}

/** Whether JSON answers a call. A response without a success status has only errors. */
function isAnswer(json: unknown, isSuccess: boolean): json is Answer {
  if (typeof json !== 'object' || json === null) return false;
  if ('error' in json && json.error !== null) return isError(json.error);
  return isSuccess && 'result' in json;
}

/** The answer to a call, among those of a response: by its id; or the one error of the whole response. */
function answerTo({ id }: Call, { answers, isWhole }: Answers): Answer | undefined {
  const [first] = answers;
  if (isWhole && first?.error && (first.id ?? null) === null) return first;
  return answers.find((answer) => String(answer.id) === String(id));
}

function headersOf(headers: IncomingHttpHeaders): Headers {
  const pairs = Object.entries(headers).flatMap(([name, values = []]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
  return new Headers(pairs);
}

/** What a response contains. */
interface Answers {
  readonly answers: readonly Answer[];
  /** It is one answer, and not a list. */
  readonly isWhole: boolean;
}

/** The answers in a response; undefined where it is not JSON-RPC. */
function answersIn({ status, text }: HttpResponse): Answers | undefined {
  const json = parsed(text);
  const isWhole = !Array.isArray(json);
  const answers: readonly unknown[] = Array.isArray(json) ? json : [json];
  const isSuccess = status >= 200 && status < 300;
  return answers.every((one) => isAnswer(one, isSuccess)) ? { answers, isWhole } : undefined;
}

interface Waiting {
  readonly call: Call;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Whether a failure came with an HTTP response other than a rate limit: the node is reachable. */
export function isHttpResponse(failure: unknown): boolean {
  const { status } = failure instanceof HttpRequestError ? failure : {};
  return status !== undefined && status !== 429;
}

/** A node at an address, which may have a login. */
class Node {
  private readonly url: URL;
  /** How many calls the node takes in one request, where it has refused more, and until when that counts. */
  private taken: { readonly calls: number; readonly until: number } | undefined;
  /** As errors name it. */
  private readonly shown: string;

  constructor(
    url: string,
    private readonly options: CallOptions,
  ) {
    this.url = new URL(url);
    const { protocol, host, pathname, search } = this.url;
    this.shown = `${protocol}//${host}${pathname}${search}`;
  }

  /** How many calls share a request at most. */
  get batchSize(): number {
    if (this.taken && performance.now() >= this.taken.until) this.taken = undefined;
    return this.taken?.calls ?? this.options.batchSize;
  }

  private failure(
    calls: readonly Call[],
    details: string,
    response?: Pick<HttpResponse, 'status' | 'headers'>,
  ): HttpRequestError {
    const received = response && { status: response.status, headers: headersOf(response.headers) };
    return new HttpRequestError({ url: this.shown, body: [...calls], details, ...received });
  }

  private async exchange(calls: readonly Call[]): Promise<HttpResponse> {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), this.options.timeoutMs);
    try {
      const body = JSON.stringify(calls.length > 1 ? calls : calls[0]);
      return await post(this.url, body, timeout.signal);
    } catch (error) {
      if (timeout.signal.aborted) throw new TimeoutError({ url: this.shown, body: [...calls] });
      const { code, message } = error as NodeJS.ErrnoException;
      throw this.failure(
        calls,
        code ?? message,
        error instanceof ResponseTooLong ? error.response : undefined,
      );
    } finally {
      clearTimeout(timer);
    }
  }

  private async answersTo(calls: readonly Call[]): Promise<Answers & { readonly connection: Socket }> {
    const response = await this.exchange(calls);
    const { status, connection } = response;
    if (NO_ANSWER.includes(status) || status >= 500) throw this.failure(calls, `status ${status}`, response);
    const found = answersIn(response);
    if (found) return { ...found, connection };
    throw this.failure(calls, `status ${status}, and the response is not JSON-RPC`, response);
  }

  /** Gives each call its answer among those of a response. */
  private deliver(waiting: readonly Waiting[], found: Answers & { readonly connection: Socket }): void {
    for (const { call, resolve, reject } of waiting) {
      const answer = answerTo(call, found);
      if (answer) resolve(answer);
      else {
        // What comes next on this connection may answer something else, too.
        found.connection.destroy();
        reject(this.failure([call], 'the response has no answer to this call'));
      }
    }
  }

  /**
   * Sends the calls of a batch that was not answered as one: the first alone, which shows whether the node refuses their
   * number or everything; then the others in batches of at most half as many, which is remembered
   * for an hour.
   */
  private async sendFewer(
    waiting: readonly Waiting[],
    refuse: (rest: readonly Waiting[]) => void,
  ): Promise<void> {
    const [first, ...rest] = waiting as [Waiting, ...Waiting[]];
    let answer: Answer | undefined;
    const resolve = (own: Answer) => {
      answer = own;
      first.resolve(own);
    };
    await this.send([{ ...first, resolve }]);
    if (answer === undefined || answer.error) return refuse(rest);
    const calls = Math.min(this.batchSize, Math.floor(waiting.length / 2));
    this.taken = { calls, until: performance.now() + TAKEN_MS };
    for (const batch of chunksOf(rest, calls)) await this.send(batch);
  }

  /** Sends calls; each is answered, or fails. Sending a call twice is harmless. */
  async send(waiting: readonly Waiting[]): Promise<void> {
    const isBatch = waiting.length > 1;
    try {
      const found = await this.answersTo(waiting.map(({ call }) => call));
      if (!isBatch || !found.isWhole) return this.deliver(waiting, found);
      await this.sendFewer(waiting, (rest) => this.deliver(rest, found));
    } catch (error) {
      const refuse = (rest: readonly Waiting[]) => {
        for (const { reject } of rest) reject(error);
      };
      await (isBatch && isHttpResponse(error) ? this.sendFewer(waiting, refuse) : refuse(waiting));
    }
  }

  /** The error that the node itself gives. */
  refusal(call: Call, error: NonNullable<Answer['error']>): RpcRequestError {
    return new RpcRequestError({ url: this.shown, body: call, error });
  }
}

/** Connections are shared by all who call a node: no id comes twice on one. */
let lastId = 0;

/**
 * Calls the node at `url` on kept connections; in batches where `batchSize` is above 1, as large as the node takes them.
 */
export function jsonRpc(url: string, options: CallOptions): CallNode {
  const node = new Node(url, options);
  let waiting: Waiting[] = [];

  function send(): void {
    const batch = waiting;
    waiting = [];
    if (batch.length > 0) void node.send(batch);
  }

  return async ({ method, params }) => {
    lastId += 1;
    const call: Call = { jsonrpc: '2.0', id: lastId, method, params };
    const { error, result } = await new Promise<Answer>((resolve, reject) => {
      waiting.push({ call, resolve, reject });
      // Calls of the same turn of the event loop share a batch.
      if (waiting.length >= node.batchSize) send();
      else if (waiting.length === 1) setImmediate(send);
    });
    if (error) throw node.refusal(call, error);
    return result;
  };
}
