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
  type SignalDefinition,
  type UpdateDefinition,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/common';
import type { TaskQueues } from './ids';
import { KeyedLimiter, LimiterTimeout } from './keyedLimiter';

/** Temporal is unavailable, or no worker answered in time. The request may still be carried out; repeat it. */
export class TemporalUnavailable extends Error {
  override readonly name = 'TemporalUnavailable';
  constructor(cause: unknown) {
    super('the workflow service did not answer in time', { cause });
  }
}

/** The workflow is closed or unknown: the record in Postgres is final. */
export interface WorkflowClosed {
  readonly workflowClosed: true;
}

/** Sends messages to workflows: the client, the task queues, and the deadline of a call. */
export interface WorkflowSender {
  readonly client: Client;
  readonly queues: TaskQueues;
  /** Milliseconds before a call gives up. */
  readonly deadlineMs: number;
  /** Payloads are encrypted before Temporal gets them. */
  readonly isEncrypted?: boolean;
}

/** A workflow accepts 10 updates in flight, from all processes; above that the server drops accepted ones. */
const updates = new KeyedLimiter(4);
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
  // Unanswered updates of a completed workflow are lost.
  return isUpdateFailure(error, 'AcceptedUpdateCompletedWorkflow');
}

/** Sends an update until a worker has seen it: an unseen update leaves no trace and is sent again. */
async function sendUntilSeen<Result>(
  sender: WorkflowSender,
  deadline: number,
  call: () => Promise<Result>,
): Promise<Result> {
  for (;;) {
    try {
      return await sender.client.withDeadline(Date.now() + deadline - performance.now(), call);
    } catch (error) {
      if (!isUpdateFailure(error, 'UnprocessedUpdate') || performance.now() >= deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, UNSEEN_UPDATE_PAUSE_MS));
  }
}

/** Calls a workflow, within its limit of updates in flight. Throws TemporalUnavailable. */
async function send<Result>(
  sender: WorkflowSender,
  workflowId: string,
  call: () => Promise<Result>,
): Promise<Result | WorkflowClosed> {
  const deadline = performance.now() + sender.deadlineMs;
  try {
    return await updates.run(workflowId, deadline, () => sendUntilSeen(sender, deadline, call));
  } catch (error) {
    if (isClosed(error)) return { workflowClosed: true };
    if (
      error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
      error instanceof ServiceError ||
      error instanceof WorkflowUpdateFailedError ||
      error instanceof LimiterTimeout ||
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
): Promise<Result | WorkflowClosed> {
  return send<Result>(sender, workflowId, () =>
    sender.client.workflow.getHandle(workflowId).executeUpdate(update.name, options as never),
  );
}

/** How a workflow is started. */
interface WorkflowStart {
  readonly workflowId: string;
  readonly taskQueue: string;
  readonly args: readonly object[];
}

/**
 * Starts a workflow with its first update and waits for the outcome of that.
 *
 * Idempotent: a second call joins the same workflow and reads the same outcome; where it `mayHaveEnded`, another one is
 * started. Throws TemporalUnavailable.
 */
export async function startWithUpdate<Result>(
  sender: WorkflowSender,
  workflowType: string,
  options: WorkflowStart,
  first: { readonly update: UpdateDefinition<Result>; readonly updateId: string },
  mayHaveEnded = false,
): Promise<Result | WorkflowClosed> {
  const { workflowId } = options;
  const { update, updateId } = first;
  const outcome = await send(sender, workflowId, () =>
    sender.client.workflow.executeUpdateWithStart(update, {
      updateId,
      startWorkflowOperation: new WithStartWorkflowOperation(workflowType, {
        ...options,
        args: [...options.args],
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: mayHaveEnded ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
      }),
    }),
  );
  if (typeof outcome !== 'object' || outcome === null || !('workflowClosed' in outcome)) return outcome;
  // A refused creation has ended its workflow, which keeps the outcome of the first call.
  return send(sender, workflowId, () =>
    sender.client.workflow.getHandle(workflowId).getUpdateHandle<Result>(updateId).result(),
  );
}

/** Ends a workflow, where it runs. Throws TemporalUnavailable. */
export async function endWorkflow(sender: WorkflowSender, workflowId: string, reason: string): Promise<void> {
  await send(sender, workflowId, () => sender.client.workflow.getHandle(workflowId).terminate(reason));
}

/**
 * Restarts a workflow that was terminated or lost. A running workflow is not changed.
 * Returns the id of the run. Throws TemporalUnavailable.
 */
export async function restartWorkflow(
  sender: WorkflowSender,
  workflowType: string,
  options: WorkflowStart,
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

/** Sends the signal that makes a workflow read its record again. A closed or unknown workflow is ignored. */
export async function signalRefresh(
  sender: WorkflowSender,
  workflowId: string,
  signal: SignalDefinition,
): Promise<void> {
  try {
    await sender.client.withDeadline(Date.now() + sender.deadlineMs, () =>
      sender.client.workflow.getHandle(workflowId).signal(signal),
    );
  } catch (error) {
    if (!isClosed(error)) throw new TemporalUnavailable(error);
  }
}
