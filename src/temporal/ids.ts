import type { WorkflowRef } from '../domain/approvalRef';

/** The id of an approval's workflow. */
export function approvalWorkflowId(ref: WorkflowRef): string {
  const resource = ref.subject === 'proposal' ? ref.resourceType : 'transactions';
  return `${ref.organizationId}/${resource}/${ref.id}`;
}

/** The queues that workers poll. A prefix keeps several installations apart in one namespace. */
export interface TaskQueues {
  /** Workflows, their local activities, the reconciler. */
  readonly workflows: string;
  /** Reading and sending on chain: one queue per network, `networkQueue`. */
  readonly chain: string;
  /** Verifying and sealing, with the keys; what is signed for a network has a queue of its own, `networkQueue`. */
  readonly signer: string;
  /** Sending events to their destinations. */
  readonly deliveries: string;
}

/** The task queues of an installation. */
export function taskQueues(prefix: string): TaskQueues {
  return {
    workflows: prefix,
    chain: `${prefix}-chain`,
    signer: `${prefix}-signer`,
    deliveries: `${prefix}-deliveries`,
  };
}

/** The queue for one network: one that is slow or halted holds up no other. */
export function networkQueue(queue: string, networkId: number): string {
  return `${queue}-${networkId}`;
}

/** The schedule of the reconciler: one per installation. */
export function reconcilerScheduleId(queues: TaskQueues): string {
  return `${queues.workflows}/reconciler`;
}

/** The workflow that the schedule starts; Temporal appends the time. */
export function reconcileWorkflowId(queues: TaskQueues): string {
  return `${queues.workflows}/reconcile`;
}

/** The workflow that reads the movements of the past on a network. */
export function backfillWorkflowId(queues: TaskQueues, networkId: number): string {
  return `${queues.workflows}/backfill/${networkId}`;
}

/**
 * The id of the execute message that a sign message with `execute` implies. Activity and workflow both use it, so that its
 * execution begins once.
 */
export function executionMessageId(signMessageId: string): string {
  return `${signMessageId}/execute`;
}

/** The id of the workflow that sends to a destination. */
export function deliveryWorkflowId({
  organizationId,
  id,
}: {
  readonly organizationId: string;
  readonly id: string;
}): string {
  return `${organizationId}/deliveries/${id}`;
}
