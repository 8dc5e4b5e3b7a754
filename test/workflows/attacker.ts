import { randomUUID } from 'node:crypto';
import { defaultPayloadConverter } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import type { ApprovalRef } from '../../src/domain/approvalRef';
import { APPROVAL_WORKFLOWS, startOptions } from '../../src/temporal/approvalMessages';
import { taskQueues } from '../../src/temporal/ids';
import type { Shown } from '../support/api';
import type { TestOrganization } from '../support/service';
import { until } from '../support/until';
import type { World } from './world';

const { EventType, CommandType } = temporal.api.enums.v1;

/** Has the signer run an activity once for each input; answers the results in the order of the inputs. */
export async function runOnSigner(
  { temporal: client, config }: World,
  activity: string,
  inputs: readonly object[],
): Promise<unknown[]> {
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

/** Starts the workflow of a record again, whatever became of the earlier one. */
export async function startAgain(
  { temporal: client, config }: World,
  { id: organizationId }: TestOrganization,
  { id, resourceType, action }: Shown,
): Promise<void> {
  const subject = resourceType ? 'proposal' : 'transaction';
  const ref = { subject, organizationId, id, resourceType, action } as ApprovalRef;
  await client.workflow.start(APPROVAL_WORKFLOWS[subject], {
    ...startOptions(taskQueues(config.temporal.taskQueue), ref, {}),
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'TERMINATE_EXISTING',
  });
}

/** Completes an activity that a workflow waits for, by its id, as soon as there is one of that name. */
export async function completeActivity(
  { temporal: client }: World,
  { workflowId, name }: { readonly workflowId: string; readonly name: string },
  result: unknown,
): Promise<void> {
  const { activityId } = await until(`${workflowId} waits for ${name}`, async () => {
    const { raw } = await client.workflow.getHandle(workflowId).describe();
    return raw.pendingActivities?.find(({ activityType }) => activityType?.name === name);
  });
  await client.activity.complete({ workflowId, activityId: activityId ?? '' }, result);
}
