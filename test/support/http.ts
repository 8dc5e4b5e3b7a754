import { randomUUID } from 'node:crypto';
import { Agent, type RequestOptions, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

/** An answer of the API. */
export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any;
}

/** Everything about a request that a test may want to get wrong. */
export interface Ask {
  readonly method?: string;
  readonly path: string;
  readonly key?: string;
  /** Sent as JSON; a string or bytes are sent as they are. */
  readonly body?: unknown;
  /** Absent: a fresh one on POST. Null: none. */
  readonly idempotencyKey?: string | null;
  readonly headers?: Record<string, string>;
}

/** What a client does beyond sending. */
export interface ClientOptions {
  /** Sees every answer, for checks over a whole suite. */
  readonly listener?: Listener;
  /**
   * Sees each 500 that tells the caller to send the same request again, before the client does so. Absent: tests see
   * the first answer.
   */
  readonly onUnavailable?: (ask: Ask & { method: string }, answer: Answer) => void;
}

/** Sees an answer. */
export type Listener = (ask: Ask & { method: string }, answer: Answer) => void;

/** How often a request that found a part unavailable is sent again: a part that stays so is a failure. */
const REPEATS = 2;

/** A kept connection was closed before the answer came. */
class ClosedConnection extends Error {
  override readonly name = 'ClosedConnection';
}

/** Sends one request and reads its answer. Throws ClosedConnection when it was sent on a connection kept too long. */
function exchange(options: RequestOptions, body: Buffer | undefined): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const json = /json/.test(response.headers['content-type'] ?? '');
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          body: json && text !== '' ? JSON.parse(text) : undefined,
        });
      });
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      const closed = outgoing.reusedSocket && error.code === 'ECONNRESET';
      reject(closed ? new ClosedConnection(error.message, { cause: error }) : error);
    });
    outgoing.end(body);
  });
}

function bytesOf(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  return Buffer.from(
    typeof body === 'string' || Buffer.isBuffer(body) ? (body as string) : JSON.stringify(body),
  );
}

/** Whether the same request may be sent again: it changes nothing, or has an idempotency key. */
function isRepeatable({ method, idempotencyKey }: Ask): boolean {
  return method === 'GET' || Boolean(idempotencyKey);
}

/** Seconds after which an answer asks for the same request again; 0 when it does not. */
function pauseBeforeRepeat({ status, headers }: Answer): number {
  return status >= 500 ? Number(headers['retry-after'] ?? 0) : 0;
}

/** Sends requests to one service over TLS, checking its certificate. */
export class HttpClient {
  private readonly agent: Agent;
  constructor(
    private readonly port: number,
    ca: string,
    private readonly options: ClientOptions = {},
  ) {
    this.agent = new Agent({ ca, keepAlive: true, maxSockets: 256 });
  }

  /** Sends a request; twice when the server closes the kept connection on which it was sent. */
  private async sendOnce(ask: Ask & { method: string }, options: RequestOptions): Promise<Answer> {
    const raw = bytesOf(ask.body);
    const answer = await exchange(options, raw).catch((error) => {
      if (!(isRepeatable(ask) && error instanceof ClosedConnection)) throw error;
      return exchange(options, raw);
    });
    this.options.listener?.(ask, answer);
    return answer;
  }

  async send(asked: Ask): Promise<Answer> {
    const method = asked.method ?? (asked.body === undefined ? 'GET' : 'POST');
    const { idempotencyKey = ['POST', 'PATCH', 'DELETE'].includes(method) ? randomUUID() : null } = asked;
    const ask = { ...asked, method, idempotencyKey };
    const raw = bytesOf(ask.body);
    const options: RequestOptions = {
      agent: this.agent,
      host: '127.0.0.1',
      port: this.port,
      path: ask.path,
      method,
      headers: {
        ...(ask.key ? { authorization: `Bearer ${ask.key}` } : {}),
        ...(raw ? { 'content-type': 'application/json', 'content-length': String(raw.length) } : {}),
        ...(idempotencyKey ? { 'x-idempotency-key': idempotencyKey } : {}),
        ...ask.headers,
      },
    };
    const { onUnavailable } = this.options;
    for (let left = onUnavailable && isRepeatable(ask) ? REPEATS : 0; ; left -= 1) {
      const answer = await this.sendOnce(ask, options);
      const pauseS = pauseBeforeRepeat(answer);
      if (pauseS === 0 || left === 0) return answer;
      onUnavailable?.(ask, answer);
      await sleep(pauseS * 1_000);
    }
  }

  close(): void {
    this.agent.destroy();
  }
}
