import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';

/** Before the same is sent again, in milliseconds, by status: a 429 says one second in its Retry-After. */
const PAUSES: { readonly [status: number]: number } = { 429: 1_000, 500: 50 };
const MOST_AGAIN = 30;

/** An answer over a connection. */
interface Answer {
  readonly status: number;
  readonly body: string;
}

/** One request, ready to be written; its body as JSON, or as the text that it is. */
export function requestBytes(ask: { path: string; key?: string; body?: unknown; text?: string }): Buffer {
  const text = ask.text ?? JSON.stringify(ask.body);
  const body = text === undefined ? undefined : Buffer.from(text);
  const head = [
    `${body ? 'POST' : 'GET'} ${ask.path} HTTP/1.1`,
    'Host: localhost',
    ...(ask.key ? [`Authorization: Bearer ${ask.key}`] : []),
    ...(body
      ? [
          'Content-Type: application/json',
          `Content-Length: ${body.length}`,
          `X-Idempotency-Key: ${randomUUID()}`,
        ]
      : []),
    '\r\n',
  ].join('\r\n');
  return Buffer.concat([Buffer.from(head), body ?? Buffer.alloc(0)]);
}

/** A TLS connection that is kept open and costs this process little, so that the servers are what is measured. */
export class HttpsConnection {
  private received: Buffer = Buffer.alloc(0);
  private waiting: { resolve(answer: Answer): void; reject(error: Error): void } | undefined;

  private constructor(private readonly socket: TLSSocket) {
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    socket.on('error', (error) => this.waiting?.reject(error));
    socket.on('close', () => this.waiting?.reject(new Error('the connection was closed')));
  }

  static open(port: number, ca: string): Promise<HttpsConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', servername: 'localhost', port, ca }, () =>
        resolve(new HttpsConnection(socket)),
      );
      socket.once('error', reject);
    });
  }

  /** Sends one request and waits for its answer; one at a time. */
  send(request: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.socket.destroyed) throw new Error('the connection was closed');
      this.waiting = { resolve, reject };
      this.socket.write(request);
    });
  }

  /** The same, again while the answer is that a part is too busy: that is in the time, too. */
  async sendAgain(request: Buffer): Promise<Answer> {
    let answer = await this.send(request);
    for (let again = 0; again < MOST_AGAIN; again += 1) {
      const pause = PAUSES[answer.status];
      if (pause === undefined) break;
      await sleep(pause);
      answer = await this.send(request);
    }
    return answer;
  }

  close(): void {
    this.waiting = undefined;
    this.socket.destroy();
  }

  private receive(chunk: Buffer): void {
    this.received = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk]);
    const headEnd = this.received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const head = this.received.toString('latin1', 0, headEnd);
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1]);
    const end = headEnd + 4 + length;
    if (this.received.length < end) return;
    const body = this.received.toString('utf8', headEnd + 4, end);
    this.received = this.received.subarray(end);
    const waiting = this.waiting;
    this.waiting = undefined;
    waiting?.resolve({ status: Number(head.slice(9, 12)), body });
  }
}
