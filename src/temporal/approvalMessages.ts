import { randomUUID } from 'node:crypto';
import { TypedSearchAttributes } from '@temporalio/common';
import { type Decision, expiryOf, type VoteType } from '../domain/approval';
import type { ApprovalRef, WorkflowRef } from '../domain/approvalRef';
import type { ApprovalState } from '../domain/approvalState';
import type { WorkflowGone } from '../domain/reconciliation';
import {
  endWorkflow,
  restartWorkflow,
  sendUpdate,
  signalRefresh,
  startWithUpdate,
  type WorkflowClosed,
  type WorkflowSender,
} from './client';
import { approvalWorkflowId, type TaskQueues } from './ids';
import { approvalMessages, type MessageResult, type ProposalInput, type TransactionInput } from './messages';
import {
  contentAttributes,
  operationName,
  type SearchableState,
  searchAttributes,
  stateAttributes,
} from './searchAttributes';

/** The names under which the workflows of approvals are registered. */
export const APPROVAL_WORKFLOWS = {
  proposal: 'proposalWorkflow',
  transaction: 'transactionWorkflow',
} as const;

/** The outcome of a message to an approval's workflow. */
export type MessageOutcome = MessageResult<ApprovalState> | WorkflowClosed;

const messages = approvalMessages<ApprovalState>();

function describe(ref: ApprovalRef): { summary: string; details: string[] } {
  const current =
    'The section *Current details* describes the operation, the signatures, what is missing and what to do.';
  if (ref.subject === 'proposal') {
    return {
      summary: `${ref.resourceType} ${ref.action} proposal ${ref.id}`,
      details: [
        `An operation of organization \`${ref.organizationId}\` that its admins decide.`,
        '',
        current,
        'A failed execution waits here: send the signal `retryExecution` (no argument) to retry it.',
      ],
    };
  }
  return {
    summary: `transaction ${ref.id}`,
    details: [
      `A transaction of an account of organization \`${ref.organizationId}\` that a policy decides.`,
      '',
      current,
      'A failed execution waits here: send the signal `retryExecution` (no argument) to retry it. One that the chain',
      'does not include can be cancelled by the signal `cancelTransaction` (no argument).',
    ],
  };
}

/** How an approval's workflow is started, by the API for a new one and by the reconciler for a lost one. */
export function startOptions(
  queues: TaskQueues,
  ref: ApprovalRef,
  start: {
    readonly requestId?: string;
    readonly found?: WorkflowGone;
    readonly searchable?: SearchableState;
    /** What Temporal stores is encrypted, so that the list of workflows, which is not, has no amounts. */
    readonly isEncrypted?: boolean;
  },
) {
  const shared: TransactionInput = {
    organizationId: ref.organizationId,
    id: ref.id,
    ...(start.requestId === undefined ? {} : { requestId: start.requestId }),
    ...(start.found === undefined ? {} : { found: start.found }),
    ...(start.isEncrypted ? { hidesAmount: true as const } : {}),
    queues: { chain: queues.chain, signer: queues.signer },
  };
  const input: ProposalInput | TransactionInput =
    ref.subject === 'proposal' ? { ...shared, resourceType: ref.resourceType, action: ref.action } : shared;
  const { summary, details } = describe(ref);
  return {
    workflowId: approvalWorkflowId(ref),
    taskQueue: queues.workflows,
    args: [input],
    // Temporal gives the tasks of organizations to workers in turn: one with thousands delays itself alone.
    priority: { fairnessKey: ref.organizationId },
    staticSummary: summary,
    staticDetails: details.join('\n'),
    typedSearchAttributes: new TypedSearchAttributes([
      { key: searchAttributes.organizationId, value: ref.organizationId },
      ...(ref.subject === 'proposal'
        ? [
            { key: searchAttributes.resourceType, value: ref.resourceType },
            { key: searchAttributes.action, value: ref.action },
            ...contentAttributes({ operation: operationName(ref), amount: null }),
          ]
        : [{ key: searchAttributes.resourceType, value: 'transactions' }]),
      ...(start.searchable ? stateAttributes(start.searchable) : []),
    ]),
  };
}

/** The request that creates an approval, with the accounts and networks that it names. */
export interface StartRequest {
  readonly requestId: string;
  readonly requestedAt: Date;
  readonly accountIds: readonly string[];
  readonly networkIds: readonly number[];
}

/** The state that a workflow is started with in its search attributes; the workflow upserts what differs. */
function initialState(
  { subject }: ApprovalRef,
  { requestedAt, accountIds, networkIds, lifetimeMs }: StartRequest & { readonly lifetimeMs: number },
): SearchableState {
  return {
    accountIds,
    networkIds,
    failure: null,
    signatureStatus: subject === 'proposal' ? 'pendingReviewSignatures' : 'pendingInitiatorSignature',
    executionStatus: null,
    expiresAt: expiryOf(requestedAt, lifetimeMs).toISOString(),
  };
}

/**
 * Starts an approval's workflow and waits for the outcome of its creation. Idempotent: a second call joins the same
 * workflow and reads the same outcome. Throws TemporalUnavailable.
 */
export async function startApproval(
  sender: WorkflowSender,
  ref: ApprovalRef,
  request: StartRequest & { readonly lifetimeMs: number },
): Promise<MessageOutcome> {
  return start(sender, ref, request, { updateId: request.requestId });
}

/**
 * Starts an approval's workflow anew: Temporal has the outcome of its creation, and Postgres has lost the record. Throws
 * TemporalUnavailable.
 */
export async function startApprovalAnew(
  sender: WorkflowSender,
  ref: ApprovalRef,
  request: StartRequest & { readonly lifetimeMs: number },
): Promise<MessageOutcome> {
  await endWorkflow(sender, approvalWorkflowId(ref), `the database has lost ${ref.subject} ${ref.id}`);
  // Temporal answers one that it knows with the first outcome, also when the run that had it has ended.
  return start(sender, ref, request, { updateId: randomUUID(), mayHaveEnded: true });
}

function start(
  sender: WorkflowSender,
  ref: ApprovalRef,
  request: StartRequest & { readonly lifetimeMs: number },
  { updateId, mayHaveEnded }: { readonly updateId: string; readonly mayHaveEnded?: boolean },
): Promise<MessageOutcome> {
  const { requestId } = request;
  const { queues, isEncrypted = false } = sender;
  const options = startOptions(queues, ref, {
    requestId,
    searchable: initialState(ref, request),
    isEncrypted,
  });
  const first = { update: messages.created, updateId };
  return startWithUpdate(sender, APPROVAL_WORKFLOWS[ref.subject], options, first, mayHaveEnded);
}

/** A signature as the API received it. */
export interface SignRequest {
  readonly requestId: string;
  readonly type: VoteType;
  readonly signature: string;
  readonly reason?: string;
  readonly execute: boolean;
}

/**
 * Sends a signature. Idempotent by `requestId`; Temporal remembers its outcome by `updateId`. Throws TemporalUnavailable.
 */
export async function signApproval(
  sender: WorkflowSender,
  ref: WorkflowRef,
  vote: SignRequest,
  updateId = vote.requestId,
): Promise<MessageOutcome> {
  return sendUpdate(sender, approvalWorkflowId(ref), messages.sign, {
    updateId,
    args: [vote],
  });
}

/**
 * Requests an execution. Idempotent by `requestId`; Temporal remembers its outcome by `updateId`. Throws TemporalUnavailable.
 */
export async function executeApproval(
  sender: WorkflowSender,
  ref: WorkflowRef,
  message: { readonly requestId: string; readonly type: Decision },
  updateId = message.requestId,
): Promise<MessageOutcome> {
  return sendUpdate(sender, approvalWorkflowId(ref), messages.execute, {
    updateId,
    args: [message],
  });
}

/** Retries a failed or blocked execution, as an operator. Throws TemporalUnavailable. */
export async function retryApproval(sender: WorkflowSender, ref: WorkflowRef): Promise<MessageOutcome> {
  return sendUpdate(sender, approvalWorkflowId(ref), messages.retryExecution, { args: [] });
}

/** Requests the cancellation of an in-flight transaction, as an operator. Throws TemporalUnavailable. */
export async function cancelTransaction(sender: WorkflowSender, ref: WorkflowRef): Promise<MessageOutcome> {
  return sendUpdate(sender, approvalWorkflowId(ref), messages.cancelTransaction, { args: [] });
}

/** Notifies an approval's workflow to read its record again. Throws TemporalUnavailable. */
export async function refreshApproval(sender: WorkflowSender, ref: WorkflowRef): Promise<void> {
  return refreshWorkflow(sender, approvalWorkflowId(ref));
}

/** Notifies a workflow to read its record again. A closed or unknown workflow is ignored. */
export async function refreshWorkflow(sender: WorkflowSender, workflowId: string): Promise<void> {
  return signalRefresh(sender, workflowId, messages.refresh);
}

/**
 * Restarts the workflow of an open approval: it first writes the audit entry about the restart. Returns the id
 * of the run. Throws TemporalUnavailable.
 */
export async function restartApproval(
  sender: WorkflowSender,
  ref: ApprovalRef,
  found: WorkflowGone,
): Promise<string> {
  return restartWorkflow(
    sender,
    APPROVAL_WORKFLOWS[ref.subject],
    startOptions(sender.queues, ref, { found, isEncrypted: sender.isEncrypted ?? false }),
  );
}
