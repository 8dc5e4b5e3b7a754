import type { ResourceType } from '../domain/proposal';

/** The id of a proposal's workflow: readable, and made here only. */
export function proposalWorkflowId(
  organizationId: string,
  resourceType: ResourceType,
  proposalId: string,
): string {
  return `${organizationId}/${resourceType}/${proposalId}`;
}

/** The id of a transaction's workflow: readable, and made here only. */
export function transactionWorkflowId(organizationId: string, transactionId: string): string {
  return `${organizationId}/transactions/${transactionId}`;
}

/** The queues that workers poll. A prefix keeps several deployments apart on one namespace. */
export interface TaskQueues {
  /** Workflows and their local activities. */
  readonly workflows: string;
  /** Reading and sending on chain. */
  readonly chain: string;
  /** Keys: everything that is signed is signed here. */
  readonly signer: string;
}

/** The task queues of a deployment. */
export function taskQueues(prefix: string): TaskQueues {
  return { workflows: prefix, chain: `${prefix}-chain`, signer: `${prefix}-signer` };
}

/** The schedule of the reconciler: one per deployment. */
export function reconcilerScheduleId(queues: TaskQueues): string {
  return `${queues.workflows}/reconciler`;
}

/** The workflow that the schedule starts; Temporal puts the time behind it. */
export function reconcileWorkflowId(queues: TaskQueues): string {
  return `${queues.workflows}/reconcile`;
}
