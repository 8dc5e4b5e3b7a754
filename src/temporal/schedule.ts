import {
  type Client,
  type Connection,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import type { Logger } from '../logging';
import { withTimeLimit } from '../timeLimit';
import { reconcilerScheduleId, reconcileWorkflowId, type TaskQueues } from './ids';
import { registerSearchAttributes } from './registeredAttributes';

/** The name under which the reconciler's workflow is registered. */
export const RECONCILE_WORKFLOW = 'reconcileWorkflow';

/** Longer than a pass that starts tens of thousands of workflows. */
const PASS_LIMIT_MS = 60 * 60_000;
/** The next pass replaces a missed one; the server accepts no window below 10 s. */
const CATCH_UP_MS = 10_000;
const DEADLINE_MS = 5_000;
const RETRY_MS = 2_000;
const LOOK_MS = 20_000;

/** An installation whose reconciler runs. */
interface ReconcilerSchedule {
  readonly client: Client;
  readonly queues: TaskQueues;
  readonly everyMs: number;
}

function scheduleOf({ queues, everyMs }: ReconcilerSchedule) {
  return {
    spec: { intervals: [{ every: everyMs }] },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCH_UP_MS },
    action: {
      type: 'startWorkflow' as const,
      workflowType: RECONCILE_WORKFLOW,
      workflowId: reconcileWorkflowId(queues),
      taskQueue: queues.workflows,
      args: [],
      workflowExecutionTimeout: PASS_LIMIT_MS,
      staticSummary: 'Compare every open proposal and transaction with its workflow, and repair what differs',
    },
  };
}

/** The reconciler's schedule as Temporal has it; undefined when there is none. */
export async function describeReconciler({
  client,
  queues,
}: Pick<ReconcilerSchedule, 'client' | 'queues'>): Promise<ScheduleDescription | undefined> {
  try {
    return await client.schedule.getHandle(reconcilerScheduleId(queues)).describe();
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return undefined;
    throw error;
  }
}

function isAsWanted({ spec, policies, action }: ScheduleDescription, schedule: ReconcilerSchedule): boolean {
  const wanted = scheduleOf(schedule);
  return (
    spec.intervals?.length === 1 &&
    spec.intervals[0]?.every === schedule.everyMs &&
    policies.overlap === wanted.policies.overlap &&
    policies.catchupWindow === wanted.policies.catchupWindow &&
    action.workflowType === wanted.action.workflowType &&
    action.taskQueue === wanted.action.taskQueue &&
    action.workflowExecutionTimeout === wanted.action.workflowExecutionTimeout
  );
}

/**
 * Creates the reconciler's schedule, or updates it to the settings. A pause is kept. Several processes may do so at
 * once.
 */
export async function ensureReconciler(schedule: ReconcilerSchedule): Promise<void> {
  const { client, queues } = schedule;
  const scheduleId = reconcilerScheduleId(queues);
  try {
    await client.schedule.create({ scheduleId, ...scheduleOf(schedule) });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const found = await describeReconciler(schedule);
    // A matching schedule is not updated: an update would undo a concurrent pause.
    if (!found || isAsWanted(found, schedule)) return;
    await client.schedule.getHandle(scheduleId).update(({ state }) => ({ ...scheduleOf(schedule), state }));
  }
}

/**
 * Ensures that the schedule exists, from the moment that Temporal is available and for as long as the process
 * runs: a server that comes back without its data gets schedule and search attributes again. Returns the function that stops it.
 */
export function keepReconciler(
  schedule: ReconcilerSchedule & { readonly connection: Connection; readonly logger: Logger },
): () => Promise<void> {
  const { client, connection, logger } = schedule;
  let stopped = false;
  let wake: () => void = () => undefined;
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });

  async function keep(): Promise<void> {
    let upToDate = false;
    for (let told = false; !stopped; ) {
      try {
        await client.withDeadline(Date.now() + DEADLINE_MS, async () => {
          if (upToDate && (await describeReconciler(schedule))) return;
          if (upToDate) {
            logger.warn('the schedule of the reconciler does not exist; creating it again');
            await registerSearchAttributes(connection, client.options.namespace);
          }
          await ensureReconciler(schedule);
          upToDate = true;
        });
        told = false;
        await withTimeLimit(woken, LOOK_MS);
      } catch (error) {
        if (!told && !stopped)
          logger.warn({ err: error }, 'the schedule of the reconciler cannot be checked; retrying');
        told = true;
        await withTimeLimit(woken, RETRY_MS);
      }
    }
  }

  const keeping = keep();
  return async () => {
    stopped = true;
    wake();
    await keeping;
  };
}
