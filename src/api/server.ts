import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { Express } from 'express';
import { EXECUTION_ENDED } from '../db/announcements';
import { authenticate } from '../db/apiKeys';
import { readTags } from '../db/approvalTags';
import { readCursorSecret } from '../db/installation';
import { listenForNotifications, type Notifications } from '../db/notifications';
import { authenticateSessions } from '../db/sessionCredentials';
import { untilAvailable } from '../db/untilAvailable';
import { listen } from '../listen';
import { limitConnections } from './addressLimit';
import { createApp } from './app';
import { createApprovalCache } from './approvalCache';
import { readCertificate, watchCertificate } from './certificate';
import { createCredentialCache } from './credentialCache';
import { type Cursors, createCursors } from './cursors';
import type { ApiDependencies } from './dependencies';
import { createEventFeed, type EventFeed } from './eventFeed';
import { createExecutionWatch } from './executionWatch';
import { HTTP_LIMITS, limitHttp } from './httpLimits';
import { createIdempotency, type Idempotency } from './idempotency';
import { createJournalGate, type JournalGate } from './journalGate';
import { passPlainHttp, type SilentConnections } from './plainHttp';
import type { Route } from './requestContext';
import { accountRoutes } from './routes/accountRoutes';
import { addressBookRoutes } from './routes/addressBookRoutes';
import { adminRoutes } from './routes/adminRoutes';
import { auditLogRoutes } from './routes/auditLogRoutes';
import { eventRoutes } from './routes/eventRoutes';
import { feeRoutes } from './routes/feeRoutes';
import { groupRoutes } from './routes/groupRoutes';
import { memberRoutes } from './routes/memberRoutes';
import { movementRoutes } from './routes/movementRoutes';
import { networkRoutes } from './routes/networkRoutes';
import { partRoutes } from './routes/partRoutes';
import { policyRoutes } from './routes/policyRoutes';
import { proposalRoutes } from './routes/proposalRoutes';
import { recipientRoutes } from './routes/recipientRoutes';
import { registrationRoutes } from './routes/registrationRoutes';
import { rescueRoutes } from './routes/rescueRoutes';
import { statementRoutes } from './routes/statementRoutes';
import { transactionRoutes } from './routes/transactionRoutes';
import { webhookRoutes } from './routes/webhookRoutes';

/** The servers that callers reach. */
interface ApiServer {
  /** Listens, until `ending` is aborted; rejects when a port is taken. Port 0 in the settings is any free one. */
  start(ending: AbortSignal): Promise<{ httpsPort: number | undefined; httpPort: number }>;
  /** Throws why every request is refused. */
  assertOpen(): Promise<void>;
  /** Takes no more connections and waits for the requests in flight, up to 30 seconds. */
  stop(): Promise<void>;
}

const STOP_DEADLINE_MS = 30_000;
const TLS_HANDSHAKE_TIMEOUT_MS = 10_000;

/** What an API server runs besides its listeners, and stops with them. */
interface Running {
  readonly idempotency: Idempotency;
  readonly notifications: Notifications;
  readonly eventFeed: EventFeed;
  readonly journalGate: JournalGate;
}

function routesOf(
  dependencies: ApiDependencies,
  { notifications, eventFeed }: Pick<Running, 'notifications' | 'eventFeed'>,
  cursors: Cursors,
): Route[] {
  const { config, db } = dependencies;
  const approving = {
    ...dependencies,
    cursors,
    watchExecution: createExecutionWatch(notifications),
    showApproval: createApprovalCache((ids) => readTags(db, ids), { compare: !config.production }),
  };
  return [
    ...proposalRoutes(approving),
    ...accountRoutes({ ...dependencies, networks: config.networks, cursors }),
    ...memberRoutes({ db, cursors }),
    ...registrationRoutes(dependencies),
    ...groupRoutes({ db, cursors }),
    ...policyRoutes({ ...dependencies, cursors }),
    ...transactionRoutes(approving),
    ...adminRoutes({ db }),
    ...rescueRoutes({ db, networks: config.networks }),
    ...networkRoutes(config.networks),
    ...partRoutes(dependencies),
    ...addressBookRoutes({ db, cursors, networks: config.networks }),
    ...recipientRoutes({ db }),
    ...feeRoutes({ db, cursors, networks: config.networks }),
    ...statementRoutes({ ...dependencies, networks: config.networks }),
    ...movementRoutes({ ...dependencies, networks: config.networks, cursors }),
    ...auditLogRoutes({ db, cursors }),
    ...eventRoutes({ eventFeed }),
    ...webhookRoutes({ db, cursors, deliveries: dependencies.deliveries }),
  ];
}

async function appOf(
  dependencies: ApiDependencies,
  running: Running,
  { ending, stopping }: { readonly ending: AbortSignal; readonly stopping: () => boolean },
): Promise<Express> {
  const { idempotency, notifications, journalGate } = running;
  const { config, db, logger, metrics, tracer, findSignedMessage, pageAddition } = dependencies;
  const cursors = createCursors(await untilAvailable(() => readCursorSecret(db), { signal: ending }));
  return createApp({
    config,
    db,
    logger,
    metrics,
    tracer,
    idempotency,
    journalGate,
    authenticate: {
      key: createCredentialCache((keys) => authenticate(db, keys), notifications),
      session: createCredentialCache(
        (tokens) => authenticateSessions(db, tokens, { countsAsUse: true }),
        notifications,
      ),
      // Not cached with the others: whoever is found here must not keep a use from being counted.
      sessionInBackground: createCredentialCache(
        (tokens) => authenticateSessions(db, tokens, { countsAsUse: false }),
        notifications,
      ),
    },
    findSignedMessage,
    pageAddition,
    deliveries: dependencies.deliveries,
    stopping,
    routes: routesOf(dependencies, running, cursors),
  });
}

function createHttps(tls: ApiDependencies['config']['tls'], app: Express): HttpsServer {
  return createHttpsServer(
    {
      ...HTTP_LIMITS,
      ...readCertificate(tls),
      handshakeTimeout: TLS_HANDSHAKE_TIMEOUT_MS,
    },
    app,
  );
}

/** Closes servers: idle connections at once, the others when they are answered or when the deadline comes. */
async function closeAll(servers: readonly Server[], silent: SilentConnections | undefined): Promise<void> {
  const closed = servers
    .filter(({ listening }) => listening)
    .map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
  silent?.destroyAll();
  const deadline = setTimeout(() => {
    for (const server of servers) server.closeAllConnections();
  }, STOP_DEADLINE_MS);
  await Promise.all(closed);
  clearTimeout(deadline);
}

/**
 * Makes the API: HTTPS, and plain HTTP on either port, which is answered with 426 unless a trusted proxy forwards it.
 * Where TLS ends at the proxy there is only the plain port.
 */
export function createApiServer(dependencies: ApiDependencies): ApiServer {
  const { config, db, logger } = dependencies;
  const running: Running = {
    idempotency: createIdempotency({ db, retentionMs: config.idempotencyRetentionMs, logger }),
    notifications: listenForNotifications(config.listenDatabaseUrl, [EXECUTION_ENDED, 'access_changed']),
    eventFeed: createEventFeed(db, logger),
    journalGate: createJournalGate(db),
  };
  const servers: Server[] = [];
  let silent: SilentConnections | undefined;
  let unwatchCertificate = () => {};
  let stopping = false;

  return {
    assertOpen: () => running.journalGate.assertOpen(),
    async start(ending) {
      const app = await appOf(dependencies, running, { ending, stopping: () => stopping });
      const https = config.tlsEndsAtProxy ? undefined : createHttps(config.tls, app);
      if (https) unwatchCertificate = watchCertificate(https, config.tls, logger);
      const http = createHttpServer(HTTP_LIMITS, app);
      servers.push(http, ...(https ? [https] : []));
      for (const server of servers) limitHttp(server, config.production);
      silent = https && passPlainHttp(http, https);
      const isTrusted: (address: string, hop: number) => boolean = app.get('trust proxy fn');
      limitConnections(servers, config.maxConnectionsPerAddress, (address) => isTrusted(address, 0));
      const httpsPort = https && (await listen(https, 'HTTPS', config.httpsPort, config.httpsHost));
      const httpPort = await listen(http, 'HTTP', config.httpPort, config.httpHost);
      return { httpsPort, httpPort };
    },
    async stop() {
      stopping = true;
      unwatchCertificate();
      running.eventFeed.stop();
      await closeAll(servers, silent);
      running.idempotency.stop();
      await running.notifications.stop();
    },
  };
}
