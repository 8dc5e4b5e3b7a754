import { assertAnswers, type Clients, connectClients } from './clients';
import type { Config } from './config';
import { assertWritable } from './db/database';
import { armFailpoint } from './failpoints';
import { createLifetime, type Lifetime } from './lifetime';
import type { Logger } from './logging';
import { createMetrics } from './metrics';
import { createDecoder } from './ops/codec';
import { createOpsServer, type OpsServer } from './ops/server';
import type { CheckedPart, CheckedParts } from './parts';
import { assertRoles, certificateFiles } from './roleSettings';
import { createTemporalAccess, type TemporalAccess, watchCredential } from './temporal/access';
import { readPayloadKeys } from './temporal/payloadCodec';
import { withTimeLimit } from './timeLimit';
import type { Tracer } from './tracing';
import {
  installTemporalRuntime,
  type RunningWorkers,
  startWorkers,
  WORKERS_STOP_LIMIT_MS,
  type WorkerSpec,
} from './workers';

/** The parts of the service that one process runs. */
export interface RunningProcess {
  readonly httpsPort: number | undefined;
  /** How long `stop` may take, in milliseconds. */
  readonly stopLimitMs: number;
  /** Resolves with the reason when it cannot go on: its process must end. */
  readonly failed: Promise<Error>;
  /** Finishes what is in flight and releases everything. */
  stop(): Promise<void>;
}

/** What a process runs for the roles that its configuration names. */
interface ProcessParts {
  /** Its workers, ready to be started. */
  workersOf(clients: Clients, lifetime: Lifetime): Promise<readonly WorkerSpec[]>;
  /** Starts what it runs beside them. */
  startOtherParts?(clients: Clients, lifetime: Lifetime, running: RunningParts): Promise<OtherParts>;
}

/** What a process runs already when it starts the parts beside its workers. */
export interface RunningParts {
  readonly workers: RunningWorkers;
  readonly checked: CheckedParts;
}

/** What a process runs beside its workers. */
export interface OtherParts {
  readonly httpsPort: number | undefined;
  /** What the ops port checks of it. */
  readonly checked: CheckedParts;
}

/** How long Temporal may take to answer a check, in milliseconds; probes and scrapes end it sooner. */
const PATIENT_MS = 9_000;
/** The sums of the limits of what a process stops; docs/monitoring.md has the grace period that follows. */
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

/**
 * What the ops port checks. A process is not ready while it cannot write with each of its logins, or Temporal or its own
 * workers do not answer. Without a network it still serves the others.
 */
function checkedParts(
  { db, signerDb, chains }: Clients,
  access: TemporalAccess,
  specs: readonly WorkerSpec[],
  workers: RunningWorkers,
): CheckedParts {
  const networks = [...chains.values()].map((chain): [string, CheckedPart] => [
    `network:${chain.network.id}`,
    { isRequired: false, check: () => assertAnswers(chain) },
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

async function startParts(
  config: Config,
  logger: Logger,
  lifetime: Lifetime,
  parts: ProcessParts,
): Promise<number | undefined> {
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
  const specs = await parts.workersOf(clients, lifetime);
  const workers = await runWorkers(clients, specs, lifetime);
  // A probe waits no longer than before; whoever looks at /statusz is not told that what is late is gone.
  const patient = createTemporalAccess(clients.connection, config.temporal, PATIENT_MS);
  const own = checkedParts(clients, patient, specs, workers);
  const others = await parts.startOtherParts?.(clients, lifetime, { workers, checked: own });
  const checked = { ...own, ...others?.checked };
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
  return others?.httpsPort;
}

/** A step of a start that cannot be broken off ends within this time, or is left behind. */
const START_END_LIMIT_MS = 10_000;

/** Waits for a start, and no longer than `START_END_LIMIT_MS` once the process is to end. */
async function endedWith<T>(start: Promise<T>, { ending }: Lifetime): Promise<T> {
  const aborted = new Promise<void>((resolve) => {
    if (ending.aborted) resolve();
    ending.addEventListener('abort', () => resolve(), { once: true });
  });
  const late = aborted.then(() =>
    withTimeLimit(start, START_END_LIMIT_MS, () => {
      throw new Error(`the start did not end within ${START_END_LIMIT_MS / 1_000} s`);
    }),
  );
  const started = await Promise.race([start, late]);
  ending.throwIfAborted();
  return started;
}

/**
 * Starts a process with these parts, and its ops port. A start that fails releases what it has started; so does one that ends
 * because `ending` is aborted, and throws its reason.
 */
export async function startProcess(
  config: Config,
  logger: Logger,
  parts: ProcessParts,
  ending?: AbortSignal,
): Promise<RunningProcess> {
  const lifetime = createLifetime(logger, ending);
  try {
    lifetime.ending.throwIfAborted();
    const httpsPort = await endedWith(startParts(config, logger, lifetime, parts), lifetime);
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
    // What was waited for says only that it was aborted.
    if ((error as Error).name === 'AbortError') lifetime.ending.throwIfAborted();
    throw error;
  }
}
