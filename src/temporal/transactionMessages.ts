import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { WorkflowGone } from '../domain/reconciliation';
import type { Refusal } from '../domain/refusal';
import type { TransactionState, TransactionVoteType } from '../domain/transaction';
import { demand, demandText, fieldsOf, parseSignature, parseStart } from './messages';

/** What a transaction's workflow is started with: ids only; the content is in the database. */
export interface TransactionInput {
  readonly organizationId: string;
  readonly transactionId: string;
  /** Id of the stored request that holds the content. Absent when the workflow continues an existing record. */
  readonly requestId?: string;
  /** How the workflow was found that this one takes the place of, when it was started again. */
  readonly found?: WorkflowGone;
  /** Task queues of the activities that are not local. */
  readonly queues: { readonly chain: string; readonly signer: string };
}

/** A signature on the transaction, whichever way it comes. */
export interface TransactionSignMessage {
  readonly type: TransactionVoteType;
  /** ABI-encoded `(address signer, bytes signature)` as 0x hex. */
  readonly signature: string;
  readonly reason?: string;
  /** Execute as well what it makes possible. */
  readonly execute?: boolean;
  /** Id of the stored request that carried it, when it came through the API. */
  readonly requestId?: string;
}

/** The fields of a signature message and nothing that came with them. Throws TypeError for a wrong shape. */
export function parseTransactionSignMessage(message: unknown): TransactionSignMessage {
  const { type } = fieldsOf(message);
  demand(
    type === 'initiator' || type === 'approve' || type === 'reject',
    'type must be initiator, approve or reject',
  );
  return { type, ...parseSignature(message) };
}

/** What the workflow is started with, and nothing that came with it. Throws TypeError for a wrong shape. */
export function parseTransactionInput(input: unknown): TransactionInput {
  const { transactionId } = fieldsOf(input);
  demandText(transactionId, 'transactionId');
  return { ...parseStart(input), transactionId };
}

/** What a handler answers: the state it left, or why it refused. */
export type TransactionMessageResult =
  | { readonly ok: true; readonly state: TransactionState }
  | { readonly ok: false; readonly refusal: Refusal };

/** What a transaction's workflow listens to; the same names as for proposals, where they mean the same. */
export const transactionMessages = {
  /** Waits for the outcome of the create, which is the workflow's own first act. */
  created: defineUpdate<TransactionMessageResult>('created'),
  /** Signs, and answers. */
  sign: defineUpdate<TransactionMessageResult, [TransactionSignMessage]>('sign'),
  /** Signs, for programs that cannot wait for an answer. */
  signSignal: defineSignal<[TransactionSignMessage]>('signTransaction'),
  /** Executes an outcome whose threshold is met, and answers when the execution has begun. */
  execute: defineUpdate<
    TransactionMessageResult,
    [{ readonly type: 'approve' | 'reject'; readonly requestId?: string }]
  >('execute'),
  /** Tries a failed or blocked execution again; for operators, needs no argument. */
  retryExecution: defineUpdate<TransactionMessageResult>('retryExecution'),
  /** The same as a signal: the button in the Temporal UI. */
  retryExecutionSignal: defineSignal('retryExecution'),
  /** Reads the record again: something outside has changed. */
  refresh: defineSignal('refresh'),
  /** How the transaction stands, as the workflow last saw it. */
  state: defineQuery<TransactionState | null>('state'),
} as const;

/** Uses up the nonce of an attempt that does not get through, so that it comes to nothing; for operators. */
export const giveUpUpdate = defineUpdate<TransactionMessageResult>('giveUp');
/** The same as a signal: the button in the Temporal UI. */
export const giveUpSignal = defineSignal('giveUp');
