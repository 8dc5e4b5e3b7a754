import { randomUUID } from 'node:crypto';
import { Agent, type RequestOptions, request } from 'node:https';

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

/** Every answer that a client has received, for checks over a whole suite. */
export type Listener = (ask: Ask & { method: string }, answer: Answer) => void;

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

/** Sends requests to one service over TLS, checking its certificate. */
export class HttpClient {
  private readonly agent: Agent;
  constructor(
    private readonly port: number,
    ca: string,
    private readonly listener: Listener = () => undefined,
  ) {
    this.agent = new Agent({ ca, keepAlive: true, maxSockets: 256 });
  }

  async send(ask: Ask): Promise<Answer> {
    const method = ask.method ?? (ask.body === undefined ? 'GET' : 'POST');
    const raw =
      ask.body === undefined
        ? undefined
        : typeof ask.body === 'string' || Buffer.isBuffer(ask.body)
          ? Buffer.from(ask.body)
          : Buffer.from(JSON.stringify(ask.body));
    const idempotencyKey =
      ask.idempotencyKey === undefined && method === 'POST' ? randomUUID() : ask.idempotencyKey;
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
    const repeatable = method === 'GET' || Boolean(idempotencyKey);
    const answer = await exchange(options, raw).catch((error) => {
      // The server may close a kept connection just as a request is sent on it.
      if (!(repeatable && error instanceof ClosedConnection)) throw error;
      return exchange(options, raw);
    });
    this.listener({ ...ask, method }, answer);
    return answer;
  }

  close(): void {
    this.agent.destroy();
  }
}
