import { TypedSearchAttributes } from '@temporalio/common';
import type { SignalDefinition } from '@temporalio/workflow';
import { TemporalUnavailable, type WorkflowSender } from './client';
import { deliveryWorkflowId } from './ids';
import { type DeliveryInput, deliveryMessages } from './messages';
import { searchAttributes } from './searchAttributes';

/** The name under which the workflow of a destination is registered. */
export const DELIVERY_WORKFLOW = 'deliveryWorkflow';

/** Which destination. */
export interface DeliveryRef {
  readonly organizationId: string;
  readonly id: string;
  /** What is sent to. */
  readonly kind: string;
}

async function signalOrStart(
  sender: WorkflowSender,
  ref: DeliveryRef,
  signal: SignalDefinition,
): Promise<void> {
  const { client, queues, deadlineMs } = sender;
  const { organizationId, id, kind } = ref;
  const input: DeliveryInput = { organizationId, id, queue: queues.deliveries };
  try {
    await client.withDeadline(Date.now() + deadlineMs, () =>
      client.workflow.signalWithStart(DELIVERY_WORKFLOW, {
        workflowId: deliveryWorkflowId(ref),
        taskQueue: queues.workflows,
        args: [input],
        signal,
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        priority: { fairnessKey: organizationId },
        typedSearchAttributes: new TypedSearchAttributes([
          { key: searchAttributes.organizationId, value: organizationId },
          { key: searchAttributes.resourceType, value: 'destinations' },
        ]),
        staticSummary: `Send events to ${kind} ${id}`,
        staticDetails: [
          `Sends the events of organization \`${organizationId}\` to ${kind} \`${id}\`, in their order.`,
          '',
          'The section *Current details* says what it waits for. Send a signal (no argument): `pause` and `resume` stop it and let it',
          'go on, `refresh` tries again now.',
        ].join('\n'),
      }),
    );
  } catch (error) {
    throw new TemporalUnavailable(error);
  }
}

/** Wakes the workflow of a destination, and starts it where it does not run. Throws TemporalUnavailable. */
export function wakeDelivery(sender: WorkflowSender, ref: DeliveryRef): Promise<void> {
  return signalOrStart(sender, ref, deliveryMessages.wake);
}

/** Has the workflow of a destination read its record again, and try now. Starts it where it does not run. Throws TemporalUnavailable. */
export function refreshDelivery(sender: WorkflowSender, ref: DeliveryRef): Promise<void> {
  return signalOrStart(sender, ref, deliveryMessages.refresh);
}
