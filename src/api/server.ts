import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type Server, type ServerOptions } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { authenticate } from '../db/apiKeys';
import { listenForNotifications } from '../db/notifications';
import { createApp } from './app';
import { createCursors } from './cursors';
import type { ApiDependencies } from './dependencies';
import { requestIdOf } from './exchange';
import { createExecutionWaiter, EXECUTION_CHANNELS } from './executionWaiter';
import { createIdempotency } from './idempotency';
import { createKeyMemory } from './keyMemory';
import { badRequest, errorBodyOf, notFound, type Refused } from './refusals';
import { accountRoutes } from './routes/accounts';
import { adminRoutes } from './routes/admins';
import { auditLogRoutes } from './routes/auditLogs';
import { groupRoutes } from './routes/groups';
import { memberRoutes } from './routes/members';
import { networkRoutes } from './routes/networks';
import { policyRoutes } from './routes/policies';
import { proposalRoutes } from './routes/proposals';
import { registrationRoutes } from './routes/registrations';
import { transactionRoutes } from './routes/transactions';
import { createTransportReader } from './transport';

/** The servers that callers reach. */
export interface ApiServer {
  /** Listens; rejects when a port is taken. Port 0 in the settings is any free one. */
  start(): Promise<{ httpsPort: number; httpPort: number }>;
  /** Takes no more connections and waits for the requests in flight, up to 10 seconds. */
  stop(): Promise<void>;
}

const STOP_DEADLINE_MS = 10_000;
const MAX_CONNECTIONS = 5_000;
const SOCKET_IDLE_MS = 60_000;

/** Limits against callers that send or read slowly, or open more than they use. */
const LIMITS: ServerOptions = {
  headersTimeout: 10_000,
  // Before the request times out: a body that comes too slowly is the caller's fault.
  requestTimeout: 20_000,
  keepAliveTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16_384,
  // The application refuses it, in JSON.
  requireHostHeader: false,
};

/** Answers on a connection on which HTTP is not understood. */
function answerOnSocket(socket: Duplex, refused: Refused): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = Buffer.from(JSON.stringify(errorBodyOf(refused)));
  const reason = { 400: 'Bad Request', 404: 'Not Found' }[refused.status] ?? 'Error';
  socket.end(
    Buffer.concat([
      Buffer.from(
        [
          `HTTP/1.1 ${refused.status} ${reason}`,
          'Content-Type: application/json; charset=utf-8',
          `Content-Length: ${body.length}`,
          `X-Request-Id: ${requestIdOf(undefined)}`,
          'Connection: close',
          '\r\n',
        ].join('\r\n'),
      ),
      body,
    ]),
  );
}

const PARSER_ERRORS: { readonly [code: string]: string } = {
  HPE_HEADER_OVERFLOW: 'has headers that are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'did not arrive in time',
};

function guard(server: Server): void {
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(SOCKET_IDLE_MS);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const message = PARSER_ERRORS[error.code ?? ''] ?? 'is no well-formed HTTP';
    answerOnSocket(socket, badRequest([{ field: 'request', message }]));
  });
  // There is no telling anything to a caller whose TLS handshake failed or took too long.
  server.on('tlsClientError', (_error, socket: Socket) => socket.destroy());
  server.on('connect', (_request, socket) => answerOnSocket(socket, notFound('path')));
  server.on('checkExpectation', (request, response) => {
    const refused = badRequest([{ field: 'Expect', message: 'is not supported' }]);
    const body = JSON.stringify(errorBodyOf(refused));
    response.writeHead(refused.status, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
      'X-Request-Id': requestIdOf(request.headers['x-request-id']),
      Connection: 'close',
    });
    response.end(body);
  });
}

interface Listening {
  readonly server: Server;
  readonly cutOff: ReturnType<typeof trackSockets>;
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}

/**
 * Remembers the connections of a server, those too that have not finished their TLS handshake: the server itself
 * knows them only from then on. Returns a function that cuts off those that fit.
 */
function trackSockets(server: Server): (fits: (socket: Socket) => boolean) => void {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return (fits) => {
    for (const socket of open) if (fits(socket)) socket.destroy();
  };
}

async function close({ server, cutOff }: Listening): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  cutOff((socket) => socket.bytesRead === 0);
  const timer = setTimeout(() => cutOff(() => true), STOP_DEADLINE_MS);
  await closed;
  clearTimeout(timer);
}

/** Makes the API: HTTPS for callers, and a plain port that tells them so. */
export function createApiServer(dependencies: ApiDependencies): ApiServer {
  const { config, db, logger, metrics } = dependencies;
  const idempotency = createIdempotency({ db, retentionMs: config.idempotencyRetentionMs, logger });
  const notifications = listenForNotifications(
    config.databaseUrl,
    [...EXECUTION_CHANNELS, 'access_changed'],
    'orgwallet_service',
  );
  const servers: Listening[] = [];
  let stopping = false;

  return {
    async start() {
      const deployment = await db('deployment').first('cursor_secret');
      if (!deployment) throw new Error('the database has no deployment row: run the migrations');
      const cursors = createCursors(deployment.cursor_secret);
      const app = createApp({
        config,
        db,
        logger,
        metrics,
        idempotency,
        authenticate: createKeyMemory((key) => authenticate(db, key), notifications),
        transportOf: createTransportReader(config.trustedProxies),
        stopping: () => stopping,
        routes: [
          ...proposalRoutes({
            ...dependencies,
            cursors,
            waitForProposal: createExecutionWaiter(db, notifications, 'proposal'),
          }),
          ...accountRoutes({ ...dependencies, networks: config.networks, cursors }),
          ...memberRoutes({ db, cursors }),
          ...registrationRoutes(dependencies),
          ...groupRoutes({ db, cursors }),
          ...policyRoutes({ ...dependencies, cursors }),
          ...transactionRoutes({
            ...dependencies,
            cursors,
            waitForTransaction: createExecutionWaiter(db, notifications, 'transaction'),
          }),
          ...adminRoutes({ db }),
          ...networkRoutes(config.networks),
          ...auditLogRoutes({ db, cursors }),
        ],
      });
      const https = createHttpsServer(
        {
          ...LIMITS,
          cert: readFileSync(config.tls.certFile),
          key: readFileSync(config.tls.keyFile),
          minVersion: 'TLSv1.2',
          handshakeTimeout: 10_000,
        },
        app,
      );
      const http = createHttpServer(LIMITS, app);
      for (const server of [https, http]) {
        guard(server);
        servers.push({ server, cutOff: trackSockets(server) });
      }
      const httpsPort = await listen(https, config.httpsPort);
      const httpPort = await listen(http, config.httpPort);
      return { httpsPort, httpPort };
    },
    async stop() {
      stopping = true;
      await Promise.all(servers.map(close));
      idempotency.stop();
      await notifications.stop();
    },
  };
}
