import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy of an RPC endpoint. */
export interface RpcProxy {
  readonly url: string;
  readonly host: string;
  stop(): Promise<void>;
}

/** Answers a request: `pass` passes it on. Undefined cuts the connection. */
export type AnswerRpc = (body: string, pass: () => Promise<string>) => Promise<string | undefined>;

/** Starts a proxy of an endpoint. */
export async function startRpcProxy(realUrl: string, answer: AnswerRpc): Promise<RpcProxy> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const headers = { 'content-type': 'application/json' };
    const pass = async () => (await fetch(realUrl, { method: 'POST', headers, body })).text();
    const text = await answer(body, pass);
    if (text === undefined) request.socket.destroy();
    else response.writeHead(200, headers).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    url: `http://${host}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
