import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '@temporalio/activity';
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
  /** What each worker is doing, for metrics and readiness. */
  status(): { role: WorkerSpec['role']; state: string; running: boolean }[];
  /** Ends polling, lets what is running finish for a few seconds, and returns. */
  stop(): Promise<void>;
}

const RESTART_DELAY_MS = 1_000;
const SHUTDOWN_GRACE_MS = 4_000;
const SHUTDOWN_FORCE_MS = 8_000;

/** The bundle of the workflows that the build made, found from the build and from the sources alike. */
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

/** Sends what the Temporal SDK logs to the service's logger. A process has one: that of the first call. */
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

/** Logs each activity when it is done: what it was for, what came of it, and the workflow that asked for it. */
function logActivities(logger: Logger): (context: Context) => ActivityInterceptors {
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
        } catch (error) {
          logger.warn({ ...fields(), err: error }, 'activity failed; Temporal retries it');
          throw error;
        }
      },
    },
  });
}

/**
 * Runs workers and starts each again when it ends by itself, so that a Temporal server that was unavailable is
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
        interceptors: { activity: [logActivities(logger)] },
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
        if (!stopping) logger.warn({ err: error, role: spec.role }, 'worker ended; starting it again');
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
