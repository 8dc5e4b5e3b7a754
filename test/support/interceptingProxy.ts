import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Json } from './document';
import type { TestService } from './service';

/** A request as it arrived, with what was answered. */
interface ForwardedRequest {
  readonly method: string;
  readonly url: string;
  readonly idempotencyKey: string | undefined;
  readonly body: string;
  status?: number;
}

/** What is answered in place of the service. */
interface CannedResponse {
  readonly status: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body: string;
}

/** What the proxy does with a request: before the service sees it, and with the answer. */
export interface Interception {
  /** `cut` ends the connection; an answer is given in place of the service's. */
  readonly before?: (request: ForwardedRequest) => 'cut' | CannedResponse | undefined;
  /** `cut` loses the answer; a body replaces the one of the service. */
  readonly after?: (request: ForwardedRequest, body: Json) => 'cut' | Json | undefined;
}

/** A server between a client and a service, as whoever holds the service's address is one. */
export interface InterceptingProxy {
  readonly baseUrl: string;
  readonly port: number;
  /** Every request since the last change of what it does. */
  readonly requests: readonly ForwardedRequest[];
  intercept(interception: Interception): void;
  close(): void;
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** Starts a server on plain HTTP of this machine that passes requests on to a service, over TLS. */
export async function startInterceptingProxy({
  config,
}: Pick<TestService, 'config'>): Promise<InterceptingProxy> {
  const agent = new Agent({ ca: readFileSync(config.tls.certFile), keepAlive: true });
  const requests: ForwardedRequest[] = [];
  let interception: Interception = {};

  const forward = (incoming: IncomingMessage, body: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const { host: _, 'content-length': __, connection: ___, ...headers } = incoming.headers;
      const to = { host: '127.0.0.1', port: config.httpsPort, path: incoming.url, method: incoming.method };
      request({ ...to, agent, headers }, resolve)
        .on('error', reject)
        .end(body);
    });

  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { method = '', url = '' } = incoming;
    const key = incoming.headers['x-idempotency-key'];
    const body = await textOf(incoming);
    const one: ForwardedRequest = {
      method,
      url,
      body,
      idempotencyKey: typeof key === 'string' ? key : undefined,
    };
    requests.push(one);
    const { before, after } = interception;
    const canned = before?.(one);
    if (canned === 'cut') return incoming.socket.destroy();
    if (canned) return outgoing.writeHead(canned.status, canned.headers).end(canned.body);
    const response = await forward(incoming, body);
    one.status = response.statusCode ?? 0;
    const text = await textOf(response);
    const changed = after?.(one, JSON.parse(text));
    if (changed === 'cut') return incoming.socket.destroy();
    const { 'content-length': _, 'transfer-encoding': __, ...headers } = response.headers;
    return outgoing
      .writeHead(one.status, headers)
      .end(changed === undefined ? text : JSON.stringify(changed));
  };

  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch((error: Error) => outgoing.writeHead(502).end(error.message));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/api/v1`,
    port,
    requests,
    intercept(next) {
      interception = next;
      requests.length = 0;
    },
    close() {
      server.closeAllConnections();
      server.close();
      agent.destroy();
    },
  };
}
