import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

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

/** How slowly bytes pass. */
interface Slowness {
  /** How long each packet takes. */
  readonly delayMs?: number;
  /** How many bytes pass at once; the rest of a packet takes as long again. */
  readonly bytesAtOnce?: number;
}

/** Passes what comes after a delay, in order. */
function delayed({ delayMs = 0, bytesAtOnce = Number.POSITIVE_INFINITY }: Slowness): Transform {
  return new Transform({
    async transform(chunk: Buffer, _encoding, done) {
      for (let at = 0; at < chunk.length; at += bytesAtOnce) {
        await sleep(delayMs);
        this.push(chunk.subarray(at, at + bytesAtOnce));
      }
      done();
    },
  });
}

/** Starts a proxy on a port of its own. */
export async function startTcpProxy(target: NetConnectOpts, slowness: Slowness = {}): Promise<TcpProxy> {
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
      from.on('close', (hasFailed) => {
        if (one.silent) return;
        // What is still on its way arrives.
        if (!slowness.delayMs || hasFailed) to.destroy();
        all.delete(one);
      });
      if (slowness.delayMs) from.pipe(delayed(slowness)).pipe(to);
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
