import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  DefaultLogger,
  type LogLevel,
  NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import { activityInterceptor, observeActivities } from './activityLog';
import type { Config, Role } from './config';
import { onFreePort } from './freePort';
import type { Logger } from './logging';
import { connectionOptions } from './temporal/connection';
import { conversion } from './temporal/payloadCodec';
import { tracingSinks } from './temporal/tracing';
import { withTimeLimit } from './timeLimit';
import type { Tracer } from './tracing';

/** One set of activities (and, for the workflow worker, workflows) on one task queue. */
export interface WorkerSpec {
  readonly role: Exclude<Role, 'api'>;
  readonly taskQueue: string;
  readonly activities: object;
  readonly options?: Partial<WorkerOptions>;
}

/** Workers that run until they are stopped. */
export interface RunningWorkers {
  /** The state of each worker, for metrics and readiness. */
  status(): { role: WorkerSpec['role']; taskQueue: string; state: string; running: boolean }[];
  /** Stops polling, waits at most 30 s for running work, and returns. */
  stop(): Promise<void>;
}

const RESTART_DELAY_MS = 1_000;
/** What runs is finished; what has not ended by then is given to another worker. */
const SHUTDOWN_GRACE_MS = 25_000;
const SHUTDOWN_FORCE_MS = 30_000;

/**
 * The bundle of the workflows that the build created; the sources where there is none. Every module is preloaded: evaluated
 * once for all workflows of a worker, not once for each. None may keep state.
 */
export function workflowSource(): Pick<
  WorkerOptions,
  'workflowBundle' | 'workflowsPath' | 'bundlerOptions' | 'interceptors'
> {
  const workflowsPath = join(__dirname, '..', 'workflows');
  const tracing = join(workflowsPath, 'tracing');
  const bundle = [join(__dirname, '..'), join(__dirname, '..', 'dist')]
    .map((dir) => join(dir, 'workflow-bundle.js'))
    .find((file) => existsSync(file));
  return bundle
    ? { workflowBundle: { codePath: bundle } }
    : {
        workflowsPath,
        interceptors: { workflowModules: [tracing] },
        bundlerOptions: { preloadModules: [workflowsPath, tracing] },
      };
}

/** The address at which the Temporal SDK of this process exposes its metrics. */
let sdkMetrics: Promise<string> | undefined;

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
      sdk[levels[level]]({ ...meta, timestampNanos: undefined }, message);
    }),
    telemetryOptions: {
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

/**
 * Runs workers and restarts each that ends by itself, so that a Temporal server that was unavailable is
 * joined as soon as it is back. Returns at once; polling begins when Temporal can be reached.
 */
export function startWorkers(
  config: Config,
  specs: readonly WorkerSpec[],
  logger: Logger,
  tracer?: Tracer,
): RunningWorkers {
  let stopping = false;
  let wake: () => void = () => undefined;
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const workers = new Map<WorkerSpec, Worker>();
  const interceptor = activityInterceptor(observeActivities(logger), tracer);
  const converted = conversion(config.temporal);
  const { slots } = config;

  async function runOnce(spec: WorkerSpec): Promise<void> {
    const connection = await NativeConnection.connect(connectionOptions(config.temporal));
    try {
      const worker = await Worker.create({
        connection,
        namespace: config.temporal.namespace,
        taskQueue: spec.taskQueue,
        activities: spec.activities,
        maxConcurrentActivityTaskExecutions: slots.activities,
        maxConcurrentLocalActivityExecutions: slots.localActivities,
        maxConcurrentWorkflowTaskExecutions: slots.workflowTasks,
        maxCachedWorkflows: slots.cachedWorkflows,
        shutdownGraceTime: SHUTDOWN_GRACE_MS,
        shutdownForceTime: SHUTDOWN_FORCE_MS,
        ...converted,
        ...spec.options,
        interceptors: { ...spec.options?.interceptors, activity: [interceptor] },
        sinks: tracingSinks(tracer),
      });
      workers.set(spec, worker);
      if (stopping) return;
      await worker.run();
    } finally {
      workers.delete(spec);
      await connection.close();
    }
  }

  async function keepRunning(spec: WorkerSpec): Promise<void> {
    while (!stopping) {
      try {
        await runOnce(spec);
      } catch (error) {
        if (!stopping) logger.warn({ err: error, taskQueue: spec.taskQueue }, 'worker ended; restarting it');
      }
      if (!stopping) await withTimeLimit(woken, RESTART_DELAY_MS);
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
      for (const worker of workers.values()) if (worker.getState() === 'RUNNING') worker.shutdown();
      await Promise.all(running);
    },
  };
}
