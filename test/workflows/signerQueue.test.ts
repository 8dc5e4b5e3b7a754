import { randomUUID } from 'node:crypto';
import { defaultPayloadConverter } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { taskQueues } from '../../src/temporal/ids';
import { startWorld, type World } from './world';

/**
 * Whoever reaches Temporal can put activities on the queue of the signer: here without any of the project's workflows,
 * by answering the tasks of a workflow of its own.
 */

const { EventType, CommandType } = temporal.api.enums.v1;
const CHAIN_ID = 31_337;

let world: World;

beforeAll(async () => {
  world = await startWorld();
}, 120_000);
afterAll(() => world?.stop());

/** Has the signer run an activity once for each input; answers the results in the order of the inputs. */
async function runOnSigner(activity: string, inputs: readonly object[]): Promise<unknown[]> {
  const { temporal: client, config } = world;
  const { namespace } = config.temporal;
  const service = client.workflowService;
  const taskQueue = { name: `attacker-${randomUUID()}` };
  const queue = { name: taskQueues(config.temporal.taskQueue).signer };
  const handle = await client.workflow.start('attack', {
    taskQueue: taskQueue.name,
    workflowId: taskQueue.name,
  });
  const commands = inputs.map((input, index) => ({
    commandType: CommandType.COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK,
    scheduleActivityTaskCommandAttributes: {
      activityId: String(index),
      activityType: { name: activity },
      taskQueue: queue,
      input: { payloads: [defaultPayloadConverter.toPayload(input)] },
      startToCloseTimeout: { seconds: 30 as never },
      retryPolicy: { maximumAttempts: 1 },
    },
  }));
  const results: unknown[] = [];
  try {
    let next: typeof commands = commands;
    for (let ended = 0; ended < inputs.length; ) {
      const task = await client.withDeadline(Date.now() + 45_000, () =>
        service.pollWorkflowTaskQueue({ namespace, taskQueue, identity: 'attacker' }),
      );
      await service.respondWorkflowTaskCompleted({ namespace, taskToken: task.taskToken, commands: next });
      next = [];
      const events = task.history?.events ?? [];
      ended = 0;
      for (const { eventType, activityTaskCompletedEventAttributes: completed, ...event } of events) {
        if (eventType === EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED) {
          throw new Error(JSON.stringify(event.activityTaskFailedEventAttributes?.failure));
        }
        if (!completed) continue;
        ended += 1;
        const scheduled = events.find(({ eventId }) => eventId?.eq(completed.scheduledEventId ?? 0));
        const index = Number(scheduled?.activityTaskScheduledEventAttributes?.activityId);
        const [payload] = completed.result?.payloads ?? [];
        results[index] = payload && defaultPayloadConverter.fromPayload(payload);
      }
    }
  } finally {
    await handle.terminate();
  }
  return results;
}

test('an activity on the queue of the signer fills no nonce that nothing waits for', async () => {
  const network = world.config.networks.find(({ id }) => id === CHAIN_ID);
  const fee = String(network?.maxFeePerGas);
  const terms = { gas: '5000000', maxFeePerGas: fee, maxPriorityFeePerGas: fee, chainNonce: 5_000_000 };
  const nonces = [-1, 0.5, 'x', null, ...Array.from({ length: 16 }, (_, index) => 5_000_000 + index)];
  const results = await runOnSigner(
    'fillNonce',
    nonces.map((nonce) => ({ networkId: CHAIN_ID, nonce, terms })),
  );
  expect(results).toEqual(
    nonces.map((nonce) => ({
      refused: { code: 'stale', message: expect.stringContaining(`nonce ${nonce} of relayer`) },
    })),
  );
  expect(await world.db('chain_envelopes').where('relayer_nonce', '>=', 5_000_000)).toEqual([]);
}, 60_000);
