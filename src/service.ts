import { setTimeout as sleep } from 'node:timers/promises';
import { createDecoder } from './api/codec';
import type { ApiDependencies } from './api/dependencies';
import { type CheckedPart, type CheckedParts, createOpsServer, type OpsServer } from './api/ops';
import { createApiServer } from './api/server';
import { createFindSignedMessage } from './chain/signedMessage';
import { createReadBalances, createSimulate } from './chainReads';
import { type Clients, connectClients } from './clients';
import { assertRoles, type Config } from './config';
import { assertWritable } from './db/database';
import { armFailpoint } from './failpoints';
import { createLifetime, type Lifetime } from './lifetime';
import type { Logger } from './logging';
import { createMetrics } from './metrics';
import { planOperation } from './operations/plan';
import { workersOf } from './roles';
import { executeApproval, signApproval, startApproval, startApprovalAnew } from './temporal/approvals';
import { readPayloadKeys } from './temporal/payloadCodec';
import type { Tracer } from './tracing';
import { startUpgrade, type Upgrade } from './upgrade';
import { installTemporalRuntime, type RunningWorkers, startWorkers, type WorkerSpec } from './workers';

/** The parts of the service that one process runs. */
export interface Service {
  readonly httpsPort: number | undefined;
  /** Resolves with the reason when it cannot go on: its process must end. */
  readonly failed: Promise<Error>;
  /** Finishes what is in flight and releases everything. */
  stop(): Promise<void>;
}

const TEMPORAL_CHECK_MS = 1_500;

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
  const workers = startWorkers(config, specs, logger, tracer);
  lifetime.onStop(() => workers.stop());
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
  lifetime.onStop(() => upgrade.stop());
  // Its worker goes on meanwhile.
  lifetime.onStop(() => upgrade.moveWorkflows());
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
    simulate: createSimulate(clients),
  };
}

/**
 * What the ops port checks. A process is not ready while it cannot write with each of its logins, or Temporal or its own
 * workers do not answer. Without a network it still serves the others.
 */
function checkedParts(
  { db, signerDb, connection, chains }: Clients,
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
    temporal: {
      isRequired: true,
      async check() {
        await connection.withDeadline(Date.now() + TEMPORAL_CHECK_MS, () =>
          connection.workflowService.getSystemInfo({}),
        );
      },
    },
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
  lifetime.onStop(async () => ops?.stop());
  const tracer = await tracerOf(config, logger, lifetime);
  const clients = await connectClients({ config, logger, metrics: createMetrics(), tracer }, lifetime);
  const specs = await workersOf(clients, lifetime);
  const workers = await runWorkers(clients, specs, lifetime);
  const upgrade = upgradeOf(clients, lifetime);
  let httpsPort: number | undefined;
  if (config.roles.includes('api')) {
    const api = createApiServer(apiDependencies(clients));
    lifetime.onStop(() => api.stop());
    ({ httpsPort } = await api.start());
  }
  const checked = checkedParts(clients, specs, workers, upgrade);
  const { payloadKeysFile, codecOrigin } = config.temporal;
  const codec =
    payloadKeysFile && codecOrigin
      ? { decode: createDecoder(readPayloadKeys(payloadKeysFile)), origin: codecOrigin }
      : undefined;
  const { metrics } = clients;
  ops = createOpsServer({
    ...config.ops,
    metrics,
    parts: () => (lifetime.stopped() ? { ...checked, process: STOPPING } : checked),
    ...(codec ? { codec } : {}),
  });
  await ops.start();
  // The others get no requests.
  if (config.roles.includes('api')) lifetime.onStop(() => sleep(config.shutdownDelayMs));
  return httpsPort;
}

/**
 * Starts the parts that the configuration names: API, workflow worker, chain worker, signer. A start that fails
 * releases what it has started.
 */
export async function startService(config: Config, logger: Logger): Promise<Service> {
  const lifetime = createLifetime();
  try {
    const httpsPort = await startParts(config, logger, lifetime);
    return { httpsPort, failed: lifetime.failed, stop: () => lifetime.stop() };
  } catch (error) {
    await lifetime
      .stop()
      .catch((late) => logger.debug({ err: late }, 'a part of a failed start could not be stopped'));
    throw error;
  }
}
