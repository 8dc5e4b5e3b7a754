import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy of a chain's RPC that a test closes, so that only that network is unavailable. */
export interface Gate {
  readonly url: string;
  shut(): void;
  open(): void;
  stop(): Promise<void>;
}

/** Starts a gate that is open. */
export async function startGate(rpcUrl: string): Promise<Gate> {
  let isOpen = true;
  const server = createServer(async (request, response) => {
    if (!isOpen) {
      request.socket.destroy();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const answer = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: Buffer.concat(chunks),
    });
    response.setHeader('content-type', 'application/json');
    response.end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    shut() {
      isOpen = false;
    },
    open() {
      isOpen = true;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
