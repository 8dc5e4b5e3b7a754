import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import getRawBody from 'raw-body';
import { listen } from '../listen';
import type { Metrics } from '../metrics';
import { type CheckedParts, statesOf } from '../parts';
import { type createDecoder, MAX_CODEC_BYTES } from './codec';

/** The server of the ops port, for operators. */
export interface OpsServer {
  start(): Promise<{ port: number }>;
  stop(): Promise<void>;
}

interface OpsOptions {
  readonly host: string;
  readonly port: number;
  /** Names in the Host header that are accepted, besides IP addresses, localhost and `host`. */
  readonly allowedHosts: readonly string[];
  readonly metrics: Metrics;
  /** Why this process must end; undefined while it can go on. */
  readonly failure: () => Error | undefined;
  /** Decrypts payloads for the Temporal UI, whose pages have this origin; absent where that is not set. */
  readonly codec?: { readonly decode: ReturnType<typeof createDecoder>; readonly origin: string };
  /** What is checked, on every call; a getter may name parts that come later. */
  readonly parts: () => CheckedParts;
}

/** Of probes and scrapes, which wait no longer. */
const CHECK_DEADLINE_MS = 2_000;
/** Of somebody who looks: what answers late is slow, and not unavailable. */
const LOOK_DEADLINE_MS = 10_000;

interface OpsResponse {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: { readonly [name: string]: string };
}

function json(status: number, body: object): OpsResponse {
  return { status, type: 'application/json; charset=utf-8', body: JSON.stringify(body) };
}

/** The states of the parts without which this process can do nothing. */
function requiredStates(parts: CheckedParts) {
  const required = Object.entries(parts).filter(([, { isRequired }]) => isRequired);
  return statesOf(Object.fromEntries(required), CHECK_DEADLINE_MS);
}

/** Whether this process can do its work. */
async function readiness(parts: CheckedParts): Promise<OpsResponse> {
  const states = await requiredStates(parts);
  const ready = states.unavailable.length === 0;
  return json(ready ? 200 : 503, { status: ready ? 'ready' : 'notReady', ...states });
}

/** Whether this process can go on: one that cannot is ending, and must be started again if it does not. */
function health(failure: Error | undefined): OpsResponse {
  return failure ? json(503, { status: 'failed', reason: failure.message }) : json(200, { status: 'up' });
}

/** What is available of all that the service uses. */
async function dependencies(parts: CheckedParts): Promise<OpsResponse> {
  const states = await statesOf(parts, LOOK_DEADLINE_MS);
  return json(200, { status: states.unavailable.length === 0 ? 'up' : 'degraded', ...states });
}

async function exposition(metrics: Metrics): Promise<OpsResponse> {
  return { status: 200, type: metrics.registry.contentType, body: await metrics.exposition() };
}

/** The host of a Host header (RFC 9110, section 7.2), without port, brackets and final dot; undefined when malformed. */
function hostNameOf(header: string): string | undefined {
  const [, ipv6, name] = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::\d*)?$/i.exec(header) ?? [];
  return (ipv6 ?? name)?.replace(/\.$/, '').toLowerCase();
}

/**
 * Whether a request may have been meant for this server. A page that makes its own name resolve to this address (DNS
 * rebinding) has the browser send that name; a browser never leaves the header out.
 */
function isExpectedHost(
  header: string | undefined,
  { host, allowedHosts }: Pick<OpsOptions, 'host' | 'allowedHosts'>,
): boolean {
  if (header === undefined) return true;
  const name = hostNameOf(header);
  if (name === undefined) return false;
  return (
    isIP(name) !== 0 ||
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === host ||
    allowedHosts.includes(name)
  );
}

/** Decrypts payloads for the pages of one origin, whose browser asks first (CORS, preflight). */
async function codecResponse(
  request: IncomingMessage,
  { decode, origin }: NonNullable<OpsOptions['codec']>,
): Promise<OpsResponse> {
  if (request.headers.origin !== origin) return json(403, { status: 'forbidden' });
  const headers = {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Headers': 'authorization, content-type, x-namespace',
    'Access-Control-Allow-Credentials': 'true',
    Vary: 'Origin',
  };
  if (request.method === 'OPTIONS') return { ...json(200, {}), headers };
  if (request.method !== 'POST') return { ...json(405, { status: 'methodNotAllowed' }), headers };
  try {
    const body = await getRawBody(request, { limit: MAX_CODEC_BYTES, encoding: 'utf8' });
    return { ...json(200, await decode(body)), headers };
  } catch (error) {
    return { ...json(400, { status: 'badRequest', reason: (error as Error).message }), headers };
  }
}

async function responseTo(
  request: IncomingMessage,
  { metrics, failure, parts, codec, ...hosts }: Omit<OpsOptions, 'port'>,
): Promise<OpsResponse> {
  const { method, url = '/', headers } = request;
  if (!isExpectedHost(headers.host, hosts)) {
    return json(421, {
      status: 'misdirected',
      reason: `unknown host "${headers.host}" (expected an IP address, localhost or a name of OPS_ALLOWED_HOSTS)`,
    });
  }
  if (codec && url.split('?')[0] === '/codec/decode') return codecResponse(request, codec);
  const path = method === 'GET' || method === 'HEAD' ? url.split('?')[0] : undefined;
  switch (path) {
    case '/healthz':
      return health(failure());
    case '/readyz':
      return readiness(parts());
    case '/statusz':
      return dependencies(parts());
    case '/metrics':
      return exposition(metrics);
    default:
      return json(404, { status: 'notFound' });
  }
}

function send(response: ServerResponse, { status, type, body, headers }: OpsResponse): void {
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store', ...headers }).end(body);
}

/**
 * /healthz (the process can go on), /readyz (it can do its work), /statusz (which part is unavailable), /metrics and, where it is
 * set, /codec/decode, for the operator only. Each part is checked for 2 seconds at most, for /statusz 10.
 */
export function createOpsServer(options: OpsOptions): OpsServer {
  const { host, port, metrics, parts } = options;
  metrics.watchParts(async () => {
    const states = await requiredStates(parts());
    return Object.fromEntries(
      Object.entries(states.parts).map(([name, { status }]) => [name, status !== 'down']),
    );
  });
  const server = createServer(async (request, response) => {
    try {
      send(response, await responseTo(request, options));
    } catch (error) {
      send(response, json(500, { status: 'error', reason: String(error) }));
    }
  });
  return {
    async start() {
      return { port: await listen(server, 'OPS', port, host) };
    },
    async stop() {
      if (!server.listening) return;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
