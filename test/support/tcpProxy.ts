import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net';
import { Transform } from 'node:stream';

/** What stands between a client and a server, and lets nothing pass when a test says so. */
export interface TcpProxy {
  readonly port: number;
  /** Nothing passes any more, on open connections and on new ones, and nothing closes them. */
  vanish(): void;
  /** New connections pass again. Those that were open never do: the server gets their end, the client nothing. */
  appear(): void;
  close(): void;
}

/** Both ends of a connection that passes. */
interface Passing {
  readonly client: Socket;
  readonly server: Socket;
  silent: boolean;
}

/** Passes what comes after a delay, in order. */
function delayed(delayMs: number): Transform {
  return new Transform({
    transform(chunk, _encoding, done) {
      setTimeout(() => done(null, chunk), delayMs);
    },
  });
}

/** Starts a proxy on a port of its own. `delayMs`: how long each packet takes. */
export async function startTcpProxy(
  target: NetConnectOpts,
  { delayMs = 0 }: { readonly delayMs?: number } = {},
): Promise<TcpProxy> {
  let vanished = false;
  const all = new Set<Passing>();
  const silence = (one: Passing) => {
    one.silent = true;
    for (const socket of [one.client, one.server]) socket.unpipe().pause();
  };
  const proxy = createServer((client) => {
    const one = { client, server: connect(target), silent: false };
    const { server } = one;
    all.add(one);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on('error', () => undefined);
      from.on('close', () => {
        if (one.silent) return;
        to.destroy();
        all.delete(one);
      });
      if (delayMs > 0) from.pipe(delayed(delayMs)).pipe(to);
      else from.pipe(to);
    }
    if (vanished) silence(one);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    port: (proxy.address() as AddressInfo).port,
    vanish() {
      vanished = true;
      for (const one of all) silence(one);
    },
    appear() {
      vanished = false;
      for (const { silent, server } of all) if (silent) server.destroy();
    },
    close() {
      for (const { client, server } of all) {
        client.destroy();
        server.destroy();
      }
      proxy.close();
    },
  };
}
