import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that a receiver got. */
export interface Received {
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every type
  readonly event: any;
  readonly atMs: number;
}

/** Answers a request; the default is 204. */
type Answering = (received: Received, response: ServerResponse, request: IncomingMessage) => void;

/** A receiver of webhooks. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** Answers otherwise from now on. */
  answer(by: Answering): void;
  close(): void;
}

/** Starts a receiver on a port of its own, or on `port`. */
export async function startReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = [];
  const taken: Answering = (_, response) => response.writeHead(204).end();
  let answering = taken;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const body = Buffer.concat(chunks).toString();
    const headers = request.headers as Received['headers'];
    const one: Received = { headers, body, event: JSON.parse(body), atMs: Date.now() };
    received.push(one);
    answering(one, response, request);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answer(by) {
      answering = by;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
