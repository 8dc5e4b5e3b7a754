import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiDependencies } from './api/dependencies';
import { type ApiServer, createApiServer } from './api/server';
import { createFindSignedMessage } from './chain/signedMessage';
import { createReadBalances, createReadRecipientCode, createSimulate } from './chainReads';
import { type Clients, connectClients } from './clients';
import { assertRoles, type Config, certificateFiles } from './config';
import { assertWritable } from './db/database';
import { armFailpoint } from './failpoints';
import { createLifetime, type Lifetime } from './lifetime';
import type { Logger } from './logging';
import { createMetrics } from './metrics';
import { planOperation } from './operations/plan';
import { createDecoder } from './ops/codec';
import { type CheckedPart, type CheckedParts, createOpsServer, type OpsServer } from './ops/server';
import { workersOf } from './roles';
import { createTemporalAccess, type TemporalAccess, watchCredential } from './temporal/access';
import { executeApproval, signApproval, startApproval, startApprovalAnew } from './temporal/approvals';
import { readPayloadKeys } from './temporal/payloadCodec';
import type { Tracer } from './tracing';
import { startUpgrade, type Upgrade } from './upgrade';
import {
  installTemporalRuntime,
  type RunningWorkers,
  startWorkers,
  WORKERS_STOP_LIMIT_MS,
  type WorkerSpec,
} from './workers';

/** The parts of the service that one process runs. */
export interface Service {
  readonly httpsPort: number | undefined;
  /** How long `stop` may take, in milliseconds. */
  readonly stopLimitMs: number;
  /** Resolves with the reason when it cannot go on: its process must end. */
  readonly failed: Promise<Error>;
  /** Finishes what is in flight and releases everything. */
  stop(): Promise<void>;
}

/** The API waits for its requests, a worker of an earlier build for its workflows, workers for their activities: 30 s each. */
const API_STOP_LIMIT_MS = 35_000;
const MOVE_LIMIT_MS = 35_000;
/** The limits of what a process stops, as docs/monitoring.md adds them up for the grace period. */
const STOP_LIMIT_MS = 65_000;
const STOP_LIMIT_WITH_MOVE_MS = 95_000;

/** A process that is stopping gets no more requests. */
const STOPPING: CheckedPart = {
  isRequired: true,
  check: () => Promise.reject(new Error('it is shutting down')),
};

/** Starts the workers, and exports in the metrics whether they poll. */
async function runWorkers(
  { config, logger, metrics, tracer }: Clients,
  specs: readonly WorkerSpec[],
  lifetime: Lifetime,
): Promise<RunningWorkers> {
  if (specs.length > 0) metrics.addSource(await installTemporalRuntime(logger));
  const workers = startWorkers(config, specs, { logger, tracer, fail: lifetime.fail });
  lifetime.onStop('the workers', () => workers.stop(), WORKERS_STOP_LIMIT_MS);
  for (const { taskQueue } of specs) {
    metrics.watchWorker(
      taskQueue,
      () => workers.status().find((worker) => worker.taskQueue === taskQueue)?.state ?? 'STOPPED',
    );
  }
  return workers;
}

/** The part of the workflow worker in an upgrade; undefined where there is none. */
function upgradeOf({ config, sender, logger }: Clients, lifetime: Lifetime): Upgrade | undefined {
  const { build } = config.temporal;
  if (!build || !config.roles.includes('worker')) return undefined;
  const upgrade = startUpgrade(sender, build, { logger, fail: lifetime.fail });
  lifetime.onStop('the watch of builds', () => upgrade.stop());
  // Its worker goes on meanwhile.
  lifetime.onStop('the move of workflows', () => upgrade.moveWorkflows(), MOVE_LIMIT_MS);
  return upgrade;
}

function planProposal({ config, db, readToken }: Clients): ApiDependencies['planProposal'] {
  const { networks, production } = config;
  return async ({ organizationId, kind, body }) => {
    const observed = await kind.observe?.(
      {
        networks,
        readToken,
        // Only the creation itself, in the workflow, notes what it finds.
        readWalletCode: async () => 'unknown',
        findMembers: async () => [],
      },
      body,
    );
    if (observed && !observed.ok) return observed;
    return planOperation({ db, organizationId, networks, production }, kind, body, observed?.value);
  };
}

function apiDependencies(clients: Clients): ApiDependencies {
  const { config, db, logger, metrics, tracer, sender, identifyVoter, walletEndpoints, readToken } = clients;
  return {
    config,
    db,
    logger,
    metrics,
    tracer,
    approvals: {
      start: (ref, request) =>
        startApproval(sender, ref, { ...request, lifetimeMs: config.proposalLifetimeMs }),
      startAnew: (ref, request) =>
        startApprovalAnew(sender, ref, { ...request, lifetimeMs: config.proposalLifetimeMs }),
      sign: (ref, vote, updateId) => signApproval(sender, ref, vote, updateId),
      execute: (ref, message, updateId) => executeApproval(sender, ref, message, updateId),
    },
    planProposal: planProposal(clients),
    identifyVoter,
    findSignedMessage: createFindSignedMessage(walletEndpoints),
    readToken,
    readBalances: createReadBalances(clients),
    readRecipientCode: createReadRecipientCode(clients),
    simulate: createSimulate(clients),
  };
}

/**
 * What the ops port checks. A process is not ready while it cannot write with each of its logins, or Temporal or its own
 * workers do not answer. Without a network it still serves the others.
 */
function checkedParts(
  { db, signerDb, chains }: Clients,
  { access, api }: { readonly access: TemporalAccess; readonly api: ApiServer | undefined },
  specs: readonly WorkerSpec[],
  workers: RunningWorkers,
  upgrade: Upgrade | undefined,
): CheckedParts {
  const networks = [...chains.values()].map(({ network, rpc }): [string, CheckedPart] => [
    `network:${network.id}`,
    {
      isRequired: false,
      async check() {
        await rpc.getBlockNumber();
      },
    },
  ]);
  const roles = [...new Set(specs.map(({ role }) => role))];
  const polling = roles.map((role): [string, CheckedPart] => [
    `worker:${role}`,
    {
      isRequired: true,
      async check() {
        const idle = workers.status().filter((worker) => worker.role === role && !worker.running);
        if (idle.length > 0) {
          throw new Error(`no worker polls ${idle.map(({ taskQueue }) => taskQueue).join(', ')}`);
        }
      },
    },
  ]);
  return {
    database: { isRequired: true, check: () => assertWritable(db) },
    ...(signerDb && signerDb !== db
      ? { signerDatabase: { isRequired: true, check: () => assertWritable(signerDb) } }
      : {}),
    temporal: { isRequired: true, check: () => access.assert() },
    ...(api ? { journal: { isRequired: true, check: () => api.assertOpen() } } : {}),
    // The workers of the build before end once this one is ready.
    ...(upgrade ? { build: { isRequired: true, check: async () => upgrade.assertPromoted() } } : {}),
    ...Object.fromEntries([...networks, ...polling]),
  };
}

/** Undefined without a collector: then nothing of OpenTelemetry is loaded. */
async function tracerOf(
  { tracing, roles }: Config,
  logger: Logger,
  lifetime: Lifetime,
): Promise<Tracer | undefined> {
  if (!tracing) return undefined;
  const { startTracer } = await import('./openTelemetry.js');
  return startTracer({ tracing, roles }, logger, lifetime);
}

async function startParts(config: Config, logger: Logger, lifetime: Lifetime): Promise<number | undefined> {
  assertRoles(config);
  armFailpoint(config.testFailpoint);
  let ops: OpsServer | undefined;
  // Its probes are answered for as long as anything goes on.
  lifetime.onStop('the ops port', async () => ops?.stop());
  const tracer = await tracerOf(config, logger, lifetime);
  const clients = await connectClients(
    { config, logger, metrics: createMetrics(config.roles), tracer },
    lifetime,
  );
  const access = createTemporalAccess(clients.connection, config.temporal);
  lifetime.onStop('the watch of the credential', watchCredential(access, lifetime.fail));
  const specs = await workersOf(clients, lifetime);
  const workers = await runWorkers(clients, specs, lifetime);
  const upgrade = upgradeOf(clients, lifetime);
  let httpsPort: number | undefined;
  const api = config.roles.includes('api') ? createApiServer(apiDependencies(clients)) : undefined;
  if (api) {
    lifetime.onStop('the API', () => api.stop(), API_STOP_LIMIT_MS);
    ({ httpsPort } = await api.start());
  }
  const checked = checkedParts(clients, { access, api }, specs, workers, upgrade);
  const { payloadKeysFile, codecOrigin } = config.temporal;
  const codec =
    payloadKeysFile && codecOrigin
      ? { decode: createDecoder(readPayloadKeys(payloadKeysFile)), origin: codecOrigin }
      : undefined;
  const { metrics } = clients;
  metrics.watchCertificates(certificateFiles(config));
  ops = createOpsServer({
    ...config.ops,
    metrics,
    failure: lifetime.failure,
    parts: () => (lifetime.stopped() ? { ...checked, process: STOPPING } : checked),
    ...(codec ? { codec } : {}),
  });
  await ops.start();
  // The others get no requests.
  if (config.roles.includes('api')) {
    const { shutdownDelayMs } = config;
    lifetime.onStop('the delay', () => sleep(shutdownDelayMs), shutdownDelayMs + 1_000);
  }
  return httpsPort;
}

/**
 * Starts the parts that the configuration names: API, workflow worker, chain worker, signer. A start that fails
 * releases what it has started.
 */
export async function startService(config: Config, logger: Logger): Promise<Service> {
  const lifetime = createLifetime(logger);
  try {
    const httpsPort = await startParts(config, logger, lifetime);
    const isMoving = config.roles.includes('worker') && config.temporal.build !== undefined;
    return {
      httpsPort,
      stopLimitMs: config.shutdownDelayMs + (isMoving ? STOP_LIMIT_WITH_MOVE_MS : STOP_LIMIT_MS),
      failed: lifetime.failed,
      stop: () => lifetime.stop(),
    };
  } catch (error) {
    await lifetime
      .stop()
      .catch((late) => logger.debug({ err: late }, 'a part of a failed start could not be stopped'));
    throw error;
  }
}
