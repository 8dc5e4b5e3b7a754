import { setTimeout as sleep } from 'node:timers/promises';
import {
  DefaultLogger,
  type LogLevel,
  makeTelemetryFilterString,
  NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import { activityInterceptor, observeActivities } from './activityLog';
import type { Clients } from './clients';
import type { Config, Role } from './config';
import { onFreePort } from './freePort';
import type { Logger } from './logging';
import { connectionOptions } from './temporal/connection';
import { networkQueue } from './temporal/ids';
import { conversion } from './temporal/payloadCodec';
import { tracingSinks } from './temporal/tracedClient';
import { closed, withTimeLimit } from './timeLimit';
import type { Tracer } from './tracing';

/** One set of activities (and, for the workflow worker, workflows) on one task queue. */
export interface WorkerSpec {
  readonly role: Exclude<Role, 'api'>;
  readonly taskQueue: string;
  readonly activities: object;
  readonly options?: Partial<WorkerOptions>;
}

/** A worker for each network: what one does not answer holds up no other. */
export function networkWorkers(
  { config, sender }: Pick<Clients, 'config' | 'sender'>,
  role: 'chain' | 'signer',
  activities: object,
): WorkerSpec[] {
  return config.networks.map(({ id }) => ({
    role,
    taskQueue: networkQueue(sender.queues[role], id),
    activities,
  }));
}

/** Workers that run until they are stopped. */
export interface RunningWorkers {
  /** The state of each worker, for metrics and readiness. */
  status(): { role: WorkerSpec['role']; taskQueue: string; state: string; running: boolean }[];
  /** Stops polling, and waits for running work: 30 s, or WORKERS_STOP_LIMIT_MS where the SDK does not let it go. */
  stop(): Promise<void>;
}

/** What a process that runs workers has. */
interface WorkerHost {
  readonly logger: Logger;
  /** Ends the process. */
  readonly fail: (error: Error) => void;
  readonly tracer?: Tracer | undefined;
}

/** Tasks of workflows, and their local activities, that one process works on at once. */
const WORKFLOW_TASK_SLOTS = 16;
const LOCAL_ACTIVITY_SLOTS = 16;
/** Workflows that stay in memory between their tasks. */
const CACHED_WORKFLOWS = 1_000;
const CONNECT_LIMIT_MS = 10_000;
/** Without a bundle of the build, the workflows are bundled meanwhile. */
const CREATE_LIMIT_MS = 60_000;
const STATE_POLL_MS = 1_000;
const FAILED_LIMIT_MS = 5_000;
const RESTART_DELAY_MS = 1_000;
/** What runs is finished; what has not ended by then is given to another worker. */
const SHUTDOWN_GRACE_MS = 25_000;
const SHUTDOWN_FORCE_MS = 30_000;
/** After that a process ends without its workers. */
export const WORKERS_STOP_LIMIT_MS = SHUTDOWN_FORCE_MS + 5_000;

/** The address at which the Temporal SDK of this process exposes its metrics. */
let sdkMetrics: Promise<string> | undefined;

/** What the SDK warns of when a worker has only activities, which most of these have. */
const ONLY_ACTIVITIES = 'No workflows registered, not polling for workflow tasks';

/** Installs the runtime with its metrics at a port. Throws Error for a port that is in use. */
function installRuntime(logger: Logger, port: number): string {
  const levels: Record<LogLevel, 'trace' | 'debug' | 'info' | 'warn' | 'error'> = {
    TRACE: 'trace',
    DEBUG: 'debug',
    INFO: 'info',
    WARN: 'warn',
    ERROR: 'error',
  };
  const sdk = logger.child({ component: 'temporal' });
  const bindAddress = `127.0.0.1:${port}`;
  Runtime.install({
    logger: new DefaultLogger('INFO', ({ level, message, meta }) => {
      const shown = message === ONLY_ACTIVITIES ? 'debug' : levels[level];
      sdk[shown]({ ...meta, timestampNanos: undefined }, message);
    }),
    telemetryOptions: {
      // Without `forward` its core writes lines of its own to the console.
      logging: { filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }), forward: {} },
      metrics: {
        prometheus: {
          bindAddress,
          useSecondsForDurations: true,
          unitSuffix: true,
          countersTotalSuffix: true,
        },
      },
    },
    shutdownSignals: [],
  });
  return bindAddress;
}

/**
 * Sends the logs of the Temporal SDK to the service's logger, and returns what reads its metrics (Prometheus text). A
 * process has one runtime: that of the first call.
 */
export async function installTemporalRuntime(logger: Logger): Promise<() => Promise<string>> {
  sdkMetrics ??= onFreePort((port) => installRuntime(logger, port));
  const address = await sdkMetrics;
  return async () => {
    const response = await fetch(`http://${address}/metrics`, { signal: AbortSignal.timeout(1_000) });
    return response.ok ? response.text() : '';
  };
}

/** A worker that has FAILED never polls again, and the SDK may never end its run: the process has to be started again. */
class WorkerFailed extends Error {
  override readonly name = 'WorkerFailed';
}

/** Throws what the work throws, or Error when it takes too long; then what comes late is disposed of. */
async function within<T>(
  what: string,
  limitMs: number,
  work: Promise<T>,
  dispose: (late: T) => Promise<unknown> = async () => undefined,
): Promise<T> {
  return withTimeLimit(work, limitMs, () => {
    work.then((late) => closed(() => dispose(late))).catch(() => undefined);
    throw new Error(`${what} took longer than ${limitMs / 1_000} s`);
  });
}

/** What all workers of a process share. */
function sharedOptions(config: Config, { logger, tracer }: WorkerHost): Omit<WorkerOptions, 'taskQueue'> {
  return {
    namespace: config.temporal.namespace,
    maxConcurrentActivityTaskExecutions: config.activitySlots,
    maxConcurrentLocalActivityExecutions: LOCAL_ACTIVITY_SLOTS,
    maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASK_SLOTS,
    maxCachedWorkflows: CACHED_WORKFLOWS,
    shutdownGraceTime: SHUTDOWN_GRACE_MS,
    shutdownForceTime: SHUTDOWN_FORCE_MS,
    ...conversion(config.temporal),
    interceptors: { activity: [activityInterceptor(observeActivities(logger), tracer)] },
    sinks: tracingSinks(tracer),
  };
}

/** Creates a worker on a connection. */
function createWorker(
  shared: Omit<WorkerOptions, 'taskQueue'>,
  { taskQueue, activities, options }: WorkerSpec,
  connection: NativeConnection,
): Promise<Worker> {
  const interceptors = { ...options?.interceptors, ...shared.interceptors };
  return Worker.create({ ...shared, ...options, interceptors, connection, taskQueue, activities });
}

/**
 * Runs workers and restarts each that ends by itself. Returns at once; polling begins when Temporal can be reached. One that
 * had polled, and for 5 s has FAILED or cannot be restarted, is reported to `fail`: its process must end.
 */
export function startWorkers(config: Config, specs: readonly WorkerSpec[], host: WorkerHost): RunningWorkers {
  const { logger, fail } = host;
  let stopping = false;
  let wake: () => void = () => undefined;
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const workers = new Map<WorkerSpec, Worker>();
  const shared = sharedOptions(config, host);

  /** Throws WorkerFailed when a worker has been FAILED for too long, at once where it is to stop; else returns after its run. */
  async function watchState(spec: WorkerSpec, worker: Worker): Promise<void> {
    let failedAt: number | undefined;
    while (workers.get(spec) === worker) {
      failedAt = worker.getState() === 'FAILED' ? (failedAt ?? performance.now()) : undefined;
      if (failedAt !== undefined && (stopping || performance.now() - failedAt >= FAILED_LIMIT_MS)) {
        throw new WorkerFailed(`the worker of task queue ${spec.taskQueue} has failed and polls no more`);
      }
      await sleep(STATE_POLL_MS, undefined, { ref: false });
    }
  }

  /** Runs a worker until it ends; `onRunning` is called when it polls. */
  async function runOnce(spec: WorkerSpec, onRunning: () => void): Promise<void> {
    const connecting = NativeConnection.connect(connectionOptions(config.temporal));
    const connection = await within('connecting to Temporal', CONNECT_LIMIT_MS, connecting, (late) =>
      late.close(),
    );
    try {
      const worker = await within(
        'creating a worker',
        CREATE_LIMIT_MS,
        createWorker(shared, spec, connection),
      );
      if (stopping) return;
      workers.set(spec, worker);
      onRunning();
      await Promise.race([worker.run(), watchState(spec, worker)]);
    } finally {
      workers.delete(spec);
      await closed(() => connection.close());
    }
  }

  async function keepRunning(spec: WorkerSpec): Promise<void> {
    let hasPolled = false;
    /** When one that had polled ended by itself. */
    let endedAt: number | undefined;
    const onRunning = () => {
      hasPolled = true;
      endedAt = undefined;
    };
    const isFinal = (error: unknown) => {
      if (hasPolled) endedAt ??= performance.now();
      const isOver = endedAt !== undefined && performance.now() - endedAt >= FAILED_LIMIT_MS;
      return error instanceof WorkerFailed || isOver;
    };
    while (!stopping) {
      const error = await runOnce(spec, onRunning).catch((thrown: Error) => thrown);
      if (stopping) return;
      if (error && isFinal(error)) return fail(error);
      logger.warn({ err: error, taskQueue: spec.taskQueue }, 'worker ended; restarting it');
      await withTimeLimit(woken, RESTART_DELAY_MS);
    }
  }

  const running = specs.map(keepRunning);
  return {
    status: () =>
      specs.map((spec) => {
        const state = workers.get(spec)?.getState() ?? 'STOPPED';
        const { role, taskQueue } = spec;
        return { role, taskQueue, state, running: state === 'RUNNING' };
      }),
    async stop() {
      stopping = true;
      wake();
      const polling = [...workers.values()].filter((worker) => worker.getState() === 'RUNNING');
      for (const worker of polling) worker.shutdown();
      // One that is just connecting has nothing to finish.
      const ending = specs.map((spec, index) => (workers.has(spec) ? running[index] : undefined));
      await Promise.all(ending);
    },
  };
}
