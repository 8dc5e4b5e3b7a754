import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { observeActivities } from '../../src/activityLog';
import { createLogger } from '../../src/logging';
import { RECONCILE_WORKFLOW } from '../../src/temporal/schedule';
import { WaitingActivities } from '../../src/temporal/waitingActivities';
import { installTemporalRuntime, type RunningWorkers, startWorkers } from '../../src/workers';
import { workflowSource } from '../../src/workflowSource';
import { until } from '../support/until';
import { NOTHING_FOUND, startWorld, type World } from './world';

/** A call of the activity, which waits until the test ends it. */
interface Call {
  readonly signal: AbortSignal;
  end(result: object | Error): void;
}

let world: World;

beforeAll(async () => {
  await installTemporalRuntime(createLogger('error'));
  world = await startWorld();
});
afterAll(() => world?.stop());

/** A process whose worker has one slot for activities. Its activity is the only one of the workflow `reconcile`. */
function startProcess(taskQueue: string) {
  const calls: Call[] = [];
  const logger = createLogger('silent');
  const waiting = new WaitingActivities(world.temporal, observeActivities(logger));
  const reconcile = waiting.withoutSlot(
    (_: undefined, signal) =>
      new Promise<object>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        calls.push({ signal, end: (result) => (result instanceof Error ? reject(result) : resolve(result)) });
      }),
  );
  const config = { ...world.config, activitySlots: 1 };
  const spec = { role: 'worker' as const, taskQueue, activities: { reconcile }, options: workflowSource() };
  const workers: RunningWorkers = startWorkers(config, [spec], {
    logger,
    fail: (error) => {
      throw error;
    },
  });
  return {
    calls,
    async stop() {
      await workers.stop();
      await waiting.stop();
    },
  };
}

function start(taskQueue: string): Promise<WorkflowHandle> {
  const workflowId = `${taskQueue}/${randomUUID()}`;
  return world.temporal.workflow.start(RECONCILE_WORKFLOW, { workflowId, taskQueue });
}

/** Waits until the activity of a run goes on without a slot. */
function slotLeft(run: WorkflowHandle): Promise<unknown> {
  return until('it has left its slot', async () => {
    const { raw } = await run.describe();
    return raw.pendingActivities?.[0]?.lastHeartbeatTime;
  });
}

const newQueue = () => `waiting-${randomUUID()}`;

/** Works with a process, and stops it. */
async function withProcess(
  work: (process: ReturnType<typeof startProcess>, taskQueue: string) => Promise<void>,
): Promise<void> {
  const taskQueue = newQueue();
  const process = startProcess(taskQueue);
  try {
    await work(process, taskQueue);
  } finally {
    await process.stop();
  }
}

test('hold no slot: many wait where a worker has one, and each gets its own result', () =>
  withProcess(async (process, taskQueue) => {
    const runs = [await start(taskQueue), await start(taskQueue), await start(taskQueue)];
    await until('all wait', async () => process.calls.length === runs.length);
    for (const [open, { end }] of process.calls.entries()) end({ ...NOTHING_FOUND, open });
    const results = await Promise.all(runs.map((run) => run.result()));
    expect(results.map((result) => (result as { open: number }).open).sort()).toEqual([0, 1, 2]);
  }));

test('that fail are retried, and one that is quick ends in its slot', () =>
  withProcess(async (process, taskQueue) => {
    const run = await start(taskQueue);
    const first = await until('it waits', async () => process.calls[0]);
    await slotLeft(run);
    first.end(new TypeError('broken'));
    const second = await until('it is retried', async () => process.calls[1]);
    second.end(NOTHING_FOUND);
    expect(await run.result()).toEqual(NOTHING_FOUND);
  }));

test('end when nobody wants their result any more', () =>
  withProcess(async (process, taskQueue) => {
    const run = await start(taskQueue);
    const { signal } = await until('it waits', async () => process.calls[0]);
    await run.terminate();
    await until('it is told', async () => signal.aborted);
  }));

test('are gone on with by another process as soon as theirs ends', async () => {
  const taskQueue = newQueue();
  const first = startProcess(taskQueue);
  const run = await start(taskQueue);
  await until('it waits', async () => first.calls[0]);
  await slotLeft(run);
  const second = startProcess(taskQueue);
  try {
    const stoppedAt = Date.now();
    await first.stop();
    const again = await until('the other process has it', async () => second.calls[0]);
    // Long before its heartbeat timeout.
    expect(Date.now() - stoppedAt).toBeLessThan(10_000);
    again.end(NOTHING_FOUND);
    expect(await run.result()).toEqual(NOTHING_FOUND);
  } finally {
    await second.stop();
  }
});
