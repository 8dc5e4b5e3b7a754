import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { ProposalAction, ProposalState, ResourceType, VoteType } from '../domain/proposal';
import type { Refusal } from '../domain/refusal';

/** What a proposal's workflow is started with: ids only; the content is in the database. */
export interface ProposalInput {
  readonly organizationId: string;
  readonly proposalId: string;
  readonly resourceType: ResourceType;
  readonly action: ProposalAction;
  /** Id of the stored request that holds the content. Absent when the workflow continues an existing record. */
  readonly requestId?: string;
  /** Task queues of the activities that are not local. */
  readonly queues: { readonly chain: string; readonly signer: string };
}

/** A signature on the proposal, whichever way it comes. */
export interface SignMessage {
  readonly type: VoteType;
  /** ABI-encoded `(address signer, bytes signature)` as 0x hex. */
  readonly signature: string;
  readonly reason?: string;
  /** Execute that type as well if its threshold is met. */
  readonly execute?: boolean;
  /** Id of the stored request that carried it, when it came through the API. */
  readonly requestId?: string;
}

/** The wish to carry out an outcome. */
export interface ExecuteMessage {
  readonly type: VoteType;
  readonly requestId?: string;
}

/** What a handler answers: the state it left, or why it refused. */
export type MessageResult =
  | { readonly ok: true; readonly state: ProposalState }
  | { readonly ok: false; readonly refusal: Refusal };

/** Waits for the outcome of the create, which is the workflow's own first act. */
export const createdUpdate = defineUpdate<MessageResult>('created');
/** Signs, and answers. */
export const signUpdate = defineUpdate<MessageResult, [SignMessage]>('sign');
/** Signs, for programs that cannot wait for an answer. */
export const signSignal = defineSignal<[SignMessage]>('signProposal');
/** Executes an outcome whose threshold is met, and answers when the execution has begun. */
export const executeUpdate = defineUpdate<MessageResult, [ExecuteMessage]>('execute');
/** Tries a failed or blocked execution again; for operators, needs no argument. */
export const retryExecutionUpdate = defineUpdate<MessageResult>('retryExecution');
/** The same as a signal: the button in the Temporal UI. */
export const retryExecutionSignal = defineSignal('retryExecution');
/** Reads the record again: something outside has changed. */
export const refreshSignal = defineSignal('refresh');
/** How the proposal stands, as the workflow last saw it. */
export const stateQuery = defineQuery<ProposalState | null>('state');
