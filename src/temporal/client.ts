import {
  type Client,
  isGrpcServiceError,
  ServiceError,
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import {
  TypedSearchAttributes,
  type UpdateDefinition,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/common';
import type { ProposalAction, ResourceType, VoteType } from '../domain/proposal';
import type { WorkflowGone } from '../domain/reconciliation';
import { proposalWorkflowId, type TaskQueues } from './ids';
import { type MessageResult, type ProposalInput, proposalMessages } from './messages';
import { searchAttributes } from './searchAttributes';
import { TurnNotCome, Turnstile } from './turnstile';

/** The name under which proposals' workflows are registered. */
export const PROPOSAL_WORKFLOW = 'proposalWorkflow';

/** Temporal cannot be reached, or no worker answered in time. What was asked may still happen; ask again. */
export class TemporalUnavailable extends Error {
  override readonly name = 'TemporalUnavailable';
  constructor(cause: unknown) {
    super('the workflow service did not answer in time', { cause });
  }
}

/** The workflow is closed or unknown, so Postgres has the answer. */
export interface Gone {
  readonly gone: true;
}

/** What comes of a message to a proposal's workflow. */
export type MessageOutcome = MessageResult | Gone;

/** What sends messages to workflows: the client, where the workers listen, and how long a call may take. */
export interface WorkflowSender {
  readonly client: Client;
  readonly queues: TaskQueues;
  /** Milliseconds before a call gives up. */
  readonly deadlineMs: number;
}

/** Names one proposal's workflow. */
export interface ProposalAddress {
  readonly organizationId: string;
  readonly resourceType: ResourceType;
  readonly proposalId: string;
}

/** A workflow takes 10 updates in flight, from all processes; above that the server drops some that it has taken. */
const updates = new Turnstile(4);
const UNSEEN_UPDATE_PAUSE_MS = 50;

function isUpdateFailure(error: unknown, type: string): boolean {
  return (
    error instanceof WorkflowUpdateFailedError &&
    (error.cause as { type?: string } | undefined)?.type === type
  );
}

function isClosed(error: unknown): boolean {
  if (error instanceof WorkflowNotFoundError || error instanceof WorkflowExecutionAlreadyStartedError)
    return true;
  // A completed workflow takes its unanswered updates with it.
  return isUpdateFailure(error, 'AcceptedUpdateCompletedWorkflow');
}

/** Sends an update until a worker has seen it: one that none has seen leaves no trace and is sent again. */
async function sendUntilSeen<Result>(
  sender: WorkflowSender,
  deadline: number,
  call: () => Promise<Result>,
): Promise<Result> {
  for (;;) {
    try {
      return await sender.client.withDeadline(deadline, call);
    } catch (error) {
      if (!isUpdateFailure(error, 'UnprocessedUpdate') || Date.now() >= deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, UNSEEN_UPDATE_PAUSE_MS));
  }
}

/** Makes a call to a workflow when its turn has come. Throws TemporalUnavailable. */
async function send<Result>(
  sender: WorkflowSender,
  workflowId: string,
  call: () => Promise<Result>,
): Promise<Result | Gone> {
  const deadline = Date.now() + sender.deadlineMs;
  try {
    return await updates.pass(workflowId, deadline, () => sendUntilSeen(sender, deadline, call));
  } catch (error) {
    if (isClosed(error)) return { gone: true };
    if (
      error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
      error instanceof ServiceError ||
      error instanceof WorkflowUpdateFailedError ||
      error instanceof TurnNotCome ||
      isGrpcServiceError(error)
    ) {
      throw new TemporalUnavailable(error);
    }
    throw error;
  }
}

/** Sends an update to a workflow. Idempotent by `updateId`, when one is given. Throws TemporalUnavailable. */
export async function sendUpdate<Result, Args extends unknown[]>(
  sender: WorkflowSender,
  workflowId: string,
  update: UpdateDefinition<Result, Args>,
  options: { readonly updateId?: string; readonly args: Args },
): Promise<Result | Gone> {
  return send<Result>(sender, workflowId, () =>
    sender.client.workflow.getHandle(workflowId).executeUpdate(update.name, options as never),
  );
}

/** How the workflow of a record is started. */
export interface RecordStart {
  readonly workflowId: string;
  readonly taskQueue: string;
  readonly args: readonly object[];
}

/**
 * Starts the workflow of a new record and waits for the outcome of its create.
 *
 * Idempotent: a second call joins the same workflow and reads the same outcome. Throws TemporalUnavailable.
 */
export async function startRecord<Result>(
  sender: WorkflowSender,
  workflowType: string,
  options: RecordStart,
  created: { readonly update: UpdateDefinition<Result>; readonly updateId: string },
): Promise<Result | Gone> {
  const { workflowId } = options;
  const { update, updateId } = created;
  const outcome = await send(sender, workflowId, () =>
    sender.client.workflow.executeUpdateWithStart(update, {
      updateId,
      startWorkflowOperation: new WithStartWorkflowOperation(workflowType, {
        ...options,
        args: [...options.args],
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
      }),
    }),
  );
  if (typeof outcome !== 'object' || outcome === null || !('gone' in outcome)) return outcome;
  // A refused create has ended its workflow; the outcome of the first call is kept with it.
  return send(sender, workflowId, () =>
    sender.client.workflow.getHandle(workflowId).getUpdateHandle<Result>(updateId).result(),
  );
}

/**
 * Starts the workflow of an open record again, when it was terminated or lost. A workflow that runs is left as it is.
 * Returns the id of the run. Throws TemporalUnavailable.
 */
export async function restoreRecord(
  sender: WorkflowSender,
  workflowType: string,
  options: RecordStart,
): Promise<string> {
  try {
    const { firstExecutionRunId } = await sender.client.withDeadline(Date.now() + sender.deadlineMs, () =>
      sender.client.workflow.start(workflowType, {
        ...options,
        args: [...options.args],
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      }),
    );
    return firstExecutionRunId;
  } catch (error) {
    throw new TemporalUnavailable(error);
  }
}

function workflowIdOf({ organizationId, resourceType, proposalId }: ProposalAddress): string {
  return proposalWorkflowId(organizationId, resourceType, proposalId);
}

/** How a proposal's workflow is started, by the API for a new one and by the reconciler for a lost one. */
export function proposalStartOptions(
  queues: TaskQueues,
  input: ProposalAddress & { action: ProposalAction; requestId?: string; found?: WorkflowGone },
) {
  const workflowInput: ProposalInput = {
    organizationId: input.organizationId,
    proposalId: input.proposalId,
    resourceType: input.resourceType,
    action: input.action,
    ...(input.requestId === undefined ? {} : { requestId: input.requestId }),
    ...(input.found === undefined ? {} : { found: input.found }),
    queues: { chain: queues.chain, signer: queues.signer },
  };
  return {
    workflowId: proposalWorkflowId(input.organizationId, input.resourceType, input.proposalId),
    taskQueue: queues.workflows,
    args: [workflowInput],
    staticSummary: `${input.resourceType} ${input.action} proposal ${input.proposalId}`,
    staticDetails: [
      `A request of organization \`${input.organizationId}\` that its admins decide.`,
      '',
      'The section *Current details* says in words what is asked, who has signed, what is missing and what to do.',
      'A failed execution waits here: send the signal `retryExecution` (no argument) to try it again.',
    ].join('\n'),
    typedSearchAttributes: new TypedSearchAttributes([
      { key: searchAttributes.organizationId, value: input.organizationId },
      { key: searchAttributes.resourceType, value: input.resourceType },
      { key: searchAttributes.action, value: input.action },
    ]),
  };
}

/** Starts a proposal's workflow and waits for the outcome of its create. See `startRecord`. */
export async function startProposal(
  sender: WorkflowSender,
  input: ProposalAddress & { action: ProposalAction; requestId: string },
): Promise<MessageOutcome> {
  return startRecord(sender, PROPOSAL_WORKFLOW, proposalStartOptions(sender.queues, input), {
    update: proposalMessages.created,
    updateId: input.requestId,
  });
}

/** Sends a signature. Idempotent by `requestId`, which is the update's id. Throws TemporalUnavailable. */
export async function signProposal(
  sender: WorkflowSender,
  input: ProposalAddress & {
    requestId: string;
    type: VoteType;
    signature: string;
    reason?: string;
    execute: boolean;
  },
): Promise<MessageOutcome> {
  const { requestId, type, signature, reason, execute } = input;
  return sendUpdate(sender, workflowIdOf(input), proposalMessages.sign, {
    updateId: requestId,
    args: [{ type, signature, execute, requestId, ...(reason === undefined ? {} : { reason }) }],
  });
}

/** Asks for an execution. Idempotent by `requestId`, which is the update's id. Throws TemporalUnavailable. */
export async function executeProposal(
  sender: WorkflowSender,
  input: ProposalAddress & { requestId: string; type: VoteType },
): Promise<MessageOutcome> {
  const { requestId, type } = input;
  return sendUpdate(sender, workflowIdOf(input), proposalMessages.execute, {
    updateId: requestId,
    args: [{ type, requestId }],
  });
}

/** Tries a failed or blocked execution again, as an operator. Throws TemporalUnavailable. */
export async function retryProposal(
  sender: WorkflowSender,
  address: ProposalAddress,
): Promise<MessageOutcome> {
  return sendUpdate(sender, workflowIdOf(address), proposalMessages.retryExecution, { args: [] });
}

/** Tells a workflow to read its record again. A workflow that is closed or unknown has nothing to learn. */
export async function refreshWorkflow(sender: WorkflowSender, workflowId: string): Promise<void> {
  try {
    await sender.client.withDeadline(Date.now() + sender.deadlineMs, () =>
      sender.client.workflow.getHandle(workflowId).signal(proposalMessages.refresh),
    );
  } catch (error) {
    if (!isClosed(error)) throw new TemporalUnavailable(error);
  }
}

/** Starts the workflow of an open proposal again: its first act is the audit entry that says how it was found. */
export async function restoreProposal(
  sender: WorkflowSender,
  address: ProposalAddress & { action: ProposalAction; found: WorkflowGone },
): Promise<string> {
  return restoreRecord(sender, PROPOSAL_WORKFLOW, proposalStartOptions(sender.queues, address));
}
