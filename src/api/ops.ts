import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from '../metrics';

/** Checks one part; throws when it is unavailable. */
export type PartCheck = () => Promise<void>;

/** The server for whoever runs the installation. */
export interface OpsServer {
  start(): Promise<{ port: number }>;
  stop(): Promise<void>;
}

const CHECK_DEADLINE_MS = 2_000;

type PartState = { status: 'up' } | { status: 'down'; reason: string };

async function stateOf(check: PartCheck): Promise<PartState> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('it did not answer in time')), CHECK_DEADLINE_MS);
  });
  try {
    await Promise.race([check(), deadline]);
    return { status: 'up' };
  } catch (error) {
    return { status: 'down', reason: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
  }
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body);
}

const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * /healthz (the process lives), /readyz (which part is unavailable) and /metrics, for the operator only.
 *
 * `parts` are checked on every call of /readyz, each for 2 seconds at most; a getter may name parts that come later.
 */
export function createOpsServer(options: {
  host: string;
  port: number;
  metrics: Metrics;
  parts: () => { readonly [name: string]: PartCheck };
}): OpsServer {
  const { host, port, metrics, parts } = options;
  const server = createServer(async (request, response) => {
    const path = (request.url ?? '/').split('?')[0];
    const readOnly = request.method === 'GET' || request.method === 'HEAD';
    try {
      if (path === '/healthz' && readOnly) {
        send(response, 200, JSON_TYPE, JSON.stringify({ status: 'up' }));
      } else if (path === '/readyz' && readOnly) {
        const names = Object.entries(parts());
        const states = await Promise.all(
          names.map(async ([name, check]) => [name, await stateOf(check)] as const),
        );
        const ready = states.every(([, state]) => state.status === 'up');
        const away = states.filter(([, state]) => state.status === 'down').map(([name]) => name);
        const body = { status: ready ? 'ready' : 'notReady', away, parts: Object.fromEntries(states) };
        send(response, ready ? 200 : 503, JSON_TYPE, JSON.stringify(body));
      } else if (path === '/metrics' && readOnly) {
        send(response, 200, metrics.registry.contentType, await metrics.registry.metrics());
      } else {
        send(response, 404, JSON_TYPE, JSON.stringify({ status: 'notFound' }));
      }
    } catch (error) {
      send(response, 500, JSON_TYPE, JSON.stringify({ status: 'error', reason: String(error) }));
    }
  });
  return {
    async start() {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve();
        });
      });
      return { port: (server.address() as AddressInfo).port };
    },
    async stop() {
      if (!server.listening) return;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
