import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ApplicationFailure, type Context } from '@temporalio/activity';
import {
  type ActivityInterceptors,
  DefaultLogger,
  type LogLevel,
  NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import type { Config, Role } from './config';
import { DatabaseFailure, withoutSql } from './db/databaseFailure';
import type { Logger } from './logging';
import { connectionOptions } from './temporal/connection';

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
  status(): { role: WorkerSpec['role']; state: string; running: boolean }[];
  /** Stops polling, waits a few seconds for running work, and returns. */
  stop(): Promise<void>;
}

const RESTART_DELAY_MS = 1_000;
const SHUTDOWN_GRACE_MS = 4_000;
const SHUTDOWN_FORCE_MS = 8_000;

/** The bundle of the workflows that the build created, for the build and the sources. */
export function workflowSource(): Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath' | 'bundlerOptions'> {
  const bundle = [join(__dirname, '..'), join(__dirname, '..', 'dist')]
    .map((dir) => join(dir, 'workflow-bundle.js'))
    .find((file) => existsSync(file));
  return bundle
    ? { workflowBundle: { codePath: bundle } }
    : {
        workflowsPath: join(__dirname, '..', 'workflows'),
        bundlerOptions: { preloadModules: ['zod/mini'] },
      };
}

let logs = false;

/** Sends the logs of the Temporal SDK to the service's logger. A process has one: that of the first call. */
export function installTemporalLogging(logger: Logger): void {
  if (logs) return;
  logs = true;
  const levels: Record<LogLevel, 'trace' | 'debug' | 'info' | 'warn' | 'error'> = {
    TRACE: 'trace',
    DEBUG: 'debug',
    INFO: 'info',
    WARN: 'warn',
    ERROR: 'error',
  };
  const sdk = logger.child({ component: 'temporal' });
  Runtime.install({
    logger: new DefaultLogger('INFO', ({ level, message, meta }) => {
      sdk[levels[level]]({ ...meta, timestampNanos: undefined }, message);
    }),
    shutdownSignals: [],
  });
}

/**
 * Logs each finished activity: its subject, its outcome and its workflow. Its error is stored in the workflow's history,
 * where everybody with access to Temporal reads it: a database error goes there without SQL and values.
 */
function observeActivities(logger: Logger): (context: Context) => ActivityInterceptors {
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const begunAt = performance.now();
        const [about = {}] = input.args as { [key: string]: unknown }[];
        const { organizationId, id, proposalId, transactionId, accountId, networkId, requestId } = about;
        const fields = () => ({
          activity: info.activityType,
          organizationId,
          approvalId: id ?? proposalId ?? transactionId,
          accountId,
          networkId,
          requestId,
          workflowId: info.workflowExecution?.workflowId,
          runId: info.workflowExecution?.runId,
          attempt: info.attempt,
          ms: Math.round(performance.now() - begunAt),
        });
        try {
          const result = await next(input);
          const refusal = (result as { refusal?: { code: string } } | null)?.refusal?.code;
          logger.info({ ...fields(), ...(refusal ? { refusal } : {}) }, 'activity');
          return result;
        } catch (thrown) {
          const error = withoutSql(thrown);
          logger.warn({ ...fields(), err: error }, 'activity failed; Temporal retries it');
          throw error instanceof DatabaseFailure
            ? ApplicationFailure.create({ type: error.name, message: error.message })
            : error;
        }
      },
    },
  });
}

/**
 * Runs workers and restarts each that ends by itself, so that a Temporal server that was unavailable is
 * joined as soon as it is back. Returns at once; polling begins when Temporal can be reached.
 */
export function startWorkers(config: Config, specs: readonly WorkerSpec[], logger: Logger): RunningWorkers {
  let stopping = false;
  let wake: () => void = () => undefined;
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const workers = new Map<WorkerSpec, Worker>();

  async function runOnce(spec: WorkerSpec): Promise<void> {
    const connection = await NativeConnection.connect(connectionOptions(config.temporal));
    try {
      const worker = await Worker.create({
        connection,
        namespace: config.temporal.namespace,
        taskQueue: spec.taskQueue,
        activities: spec.activities,
        shutdownGraceTime: SHUTDOWN_GRACE_MS,
        shutdownForceTime: SHUTDOWN_FORCE_MS,
        interceptors: { activity: [observeActivities(logger)] },
        ...spec.options,
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
        if (!stopping) logger.warn({ err: error, role: spec.role }, 'worker ended; restarting it');
      }
      if (!stopping) await Promise.race([new Promise((r) => setTimeout(r, RESTART_DELAY_MS)), woken]);
    }
  }

  const running = specs.map(keepRunning);
  return {
    status: () =>
      specs.map((spec) => {
        const state = workers.get(spec)?.getState() ?? 'STOPPED';
        return { role: spec.role, state, running: state === 'RUNNING' };
      }),
    async stop() {
      stopping = true;
      wake();
      for (const worker of workers.values()) if (worker.getState() === 'RUNNING') worker.shutdown();
      await Promise.all(running);
    },
  };
}
