import { TypedSearchAttributes } from '@temporalio/common';
import type { WorkflowGone } from '../domain/reconciliation';
import type { TransactionVoteType } from '../domain/transaction';
import { type Gone, restoreRecord, sendUpdate, startRecord, type WorkflowSender } from './client';
import { type TaskQueues, transactionWorkflowId } from './ids';
import { searchAttributes } from './searchAttributes';
import {
  giveUpUpdate,
  type TransactionInput,
  type TransactionMessageResult,
  transactionMessages,
} from './transactionMessages';

/** The name under which transactions' workflows are registered. */
export const TRANSACTION_WORKFLOW = 'transactionWorkflow';

/** What comes of a message to a transaction's workflow. */
export type TransactionMessageOutcome = TransactionMessageResult | Gone;

/** Names one transaction's workflow. */
export interface TransactionAddress {
  readonly organizationId: string;
  readonly transactionId: string;
}

function workflowIdOf({ organizationId, transactionId }: TransactionAddress): string {
  return transactionWorkflowId(organizationId, transactionId);
}

/** How a transaction's workflow is started, by the API for a new one and by the reconciler for a lost one. */
export function transactionStartOptions(
  queues: TaskQueues,
  input: TransactionAddress & { requestId?: string; found?: WorkflowGone },
) {
  const { organizationId, transactionId, requestId, found } = input;
  const workflowInput: TransactionInput = {
    organizationId,
    transactionId,
    ...(requestId === undefined ? {} : { requestId }),
    ...(found === undefined ? {} : { found }),
    queues: { chain: queues.chain, signer: queues.signer },
  };
  return {
    workflowId: workflowIdOf(input),
    taskQueue: queues.workflows,
    args: [workflowInput] as const,
    staticSummary: `transaction ${transactionId}`,
    staticDetails: [
      `A transaction of an account of organization \`${organizationId}\` that a policy decides.`,
      '',
      'The section *Current details* says in words what is asked, who has signed, what is missing and what to do.',
      'A failed execution waits here: send the signal `retryExecution` (no argument) to try it again. One that does',
      'not get through to the chain comes to nothing by the signal `giveUp` (no argument).',
    ].join('\n'),
    typedSearchAttributes: new TypedSearchAttributes([
      { key: searchAttributes.organizationId, value: organizationId },
      { key: searchAttributes.resourceType, value: 'transactions' },
    ]),
  };
}

/** Starts a transaction's workflow and waits for the outcome of its create. See `startRecord`. */
export async function startTransaction(
  sender: WorkflowSender,
  input: TransactionAddress & { requestId: string },
): Promise<TransactionMessageOutcome> {
  return startRecord(sender, TRANSACTION_WORKFLOW, transactionStartOptions(sender.queues, input), {
    update: transactionMessages.created,
    updateId: input.requestId,
  });
}

/** Sends a signature. Idempotent by `requestId`, which is the update's id. Throws TemporalUnavailable. */
export async function signTransaction(
  sender: WorkflowSender,
  input: TransactionAddress & {
    requestId: string;
    type: TransactionVoteType;
    signature: string;
    reason?: string;
    execute: boolean;
  },
): Promise<TransactionMessageOutcome> {
  const { requestId, type, signature, reason, execute } = input;
  return sendUpdate(sender, workflowIdOf(input), transactionMessages.sign, {
    updateId: requestId,
    args: [{ type, signature, execute, requestId, ...(reason === undefined ? {} : { reason }) }],
  });
}

/** Asks for an execution. Idempotent by `requestId`, which is the update's id. Throws TemporalUnavailable. */
export async function executeTransaction(
  sender: WorkflowSender,
  input: TransactionAddress & { requestId: string; type: 'approve' | 'reject' },
): Promise<TransactionMessageOutcome> {
  const { requestId, type } = input;
  return sendUpdate(sender, workflowIdOf(input), transactionMessages.execute, {
    updateId: requestId,
    args: [{ type, requestId }],
  });
}

/** Tries a failed or blocked execution again, as an operator. Throws TemporalUnavailable. */
export async function retryTransaction(
  sender: WorkflowSender,
  address: TransactionAddress,
): Promise<TransactionMessageOutcome> {
  return sendUpdate(sender, workflowIdOf(address), transactionMessages.retryExecution, { args: [] });
}

/** Asks that an attempt which is on its way comes to nothing, as an operator. Throws TemporalUnavailable. */
export async function giveUpTransaction(
  sender: WorkflowSender,
  address: TransactionAddress,
): Promise<TransactionMessageOutcome> {
  return sendUpdate(sender, workflowIdOf(address), giveUpUpdate, { args: [] });
}

/** Starts the workflow of an open transaction again: its first act is the audit entry that says how it was found. */
export async function restoreTransaction(
  sender: WorkflowSender,
  address: TransactionAddress & { found: WorkflowGone },
): Promise<string> {
  return restoreRecord(sender, TRANSACTION_WORKFLOW, transactionStartOptions(sender.queues, address));
}
