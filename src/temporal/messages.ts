import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { ProposalAction, ProposalState, ResourceType, VoteType } from '../domain/proposal';
import { ENDED, type WorkflowGone } from '../domain/reconciliation';
import type { Refusal } from '../domain/refusal';

/** What a proposal's workflow is started with: ids only; the content is in the database. */
export interface ProposalInput {
  readonly organizationId: string;
  readonly proposalId: string;
  readonly resourceType: ResourceType;
  readonly action: ProposalAction;
  /** Id of the stored request that holds the content. Absent when the workflow continues an existing record. */
  readonly requestId?: string;
  /** How the workflow was found that this one takes the place of, when it was started again. */
  readonly found?: WorkflowGone;
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

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Longest signature that a message may carry, in characters of hex: 64 KiB. */
const MAX_SIGNATURE_LENGTH = 131_074;
const MAX_REASON_LENGTH = 500;
/** What no text of a message may hold: control characters, halves of characters, changes of direction. */
const UNPRINTABLE = /[\p{Cc}\p{Surrogate}\p{Bidi_Control}\u2028\u2029]/u;

export function demand(condition: boolean, what: string): asserts condition {
  if (!condition) throw new TypeError(what);
}

export function fieldsOf(message: unknown): { readonly [field: string]: unknown } {
  demand(typeof message === 'object' && message !== null, 'the message must be an object');
  return message as { readonly [field: string]: unknown };
}

function demandVoteType(type: unknown): asserts type is VoteType {
  demand(type === 'approve' || type === 'reject', 'type must be approve or reject');
}

function demandReason(reason: unknown, field: string): asserts reason is string {
  demand(
    typeof reason === 'string' && [...reason].length <= MAX_REASON_LENGTH && !UNPRINTABLE.test(reason),
    `${field} must be a text of at most 500 characters, without control characters`,
  );
}

/** Throws TypeError unless the value is a text that can be stored. */
export function demandText(value: unknown, field: string): asserts value is string {
  demand(typeof value === 'string' && !UNPRINTABLE.test(value), `${field} must be a text`);
}

function demandRequestId(requestId: unknown): asserts requestId is string | undefined {
  demand(
    requestId === undefined || (typeof requestId === 'string' && UUID.test(requestId)),
    'requestId must be a UUID',
  );
}

/** The id of a message: a text that can be stored. Throws TypeError. */
export function parseMessageId(id: string): string {
  demand(!UNPRINTABLE.test(id), 'the id of the message must not have control characters');
  return id;
}

/** The fields that every signature message has, apart from its type. Throws TypeError for a wrong shape. */
export function parseSignature(message: unknown): Omit<SignMessage, 'type'> {
  const { signature, reason, execute, requestId } = fieldsOf(message);
  demand(
    typeof signature === 'string' && signature.length <= MAX_SIGNATURE_LENGTH,
    'signature must be a hex string of at most 64 KiB',
  );
  if (reason !== undefined) demandReason(reason, 'reason');
  demand(execute === undefined || typeof execute === 'boolean', 'execute must be true or false');
  demandRequestId(requestId);
  return {
    signature,
    ...(reason === undefined ? {} : { reason }),
    ...(execute === undefined ? {} : { execute }),
    ...(requestId === undefined ? {} : { requestId }),
  };
}

/** The fields of a signature message and nothing that came with them. Throws TypeError for a wrong shape. */
export function parseSignMessage(message: unknown): SignMessage {
  const { type } = fieldsOf(message);
  demandVoteType(type);
  return { type, ...parseSignature(message) };
}

/** The fields of an execute message and nothing that came with them. Throws TypeError for a wrong shape. */
export function parseExecuteMessage(message: unknown): ExecuteMessage {
  const { type, requestId } = fieldsOf(message);
  demandVoteType(type);
  demandRequestId(requestId);
  return { type, ...(requestId === undefined ? {} : { requestId }) };
}

/** How a workflow was found. Throws TypeError for a wrong shape. */
function parseFound(found: unknown): WorkflowGone {
  const { status, runId, byOperator, reason } = fieldsOf(found);
  if (status === 'missing') return { status };
  const ended = ENDED.find((end) => end === status);
  demand(ended !== undefined, 'found.status must be a way in which a workflow ends');
  demand(typeof runId === 'string' && UUID.test(runId), 'found.runId must be a UUID');
  demand(typeof byOperator === 'boolean', 'found.byOperator must be true or false');
  demandReason(reason, 'found.reason');
  return { status: ended, runId, byOperator, reason };
}

/** What every workflow of a record is started with. Throws TypeError for a wrong shape. */
export function parseStart(
  input: unknown,
): Pick<ProposalInput, 'organizationId' | 'requestId' | 'found' | 'queues'> {
  const { organizationId, requestId, found, queues } = fieldsOf(input);
  demandText(organizationId, 'organizationId');
  demandRequestId(requestId);
  const { chain, signer } = fieldsOf(queues);
  demand(typeof chain === 'string' && typeof signer === 'string', 'queues must name chain and signer');
  return {
    organizationId,
    ...(requestId === undefined ? {} : { requestId }),
    ...(found === undefined ? {} : { found: parseFound(found) }),
    queues: { chain, signer },
  };
}

/** What a workflow was started with. Throws TypeError for a wrong shape. */
export function parseProposalInput(input: unknown): ProposalInput {
  const { proposalId, resourceType, action } = fieldsOf(input);
  demandText(proposalId, 'proposalId');
  demandText(resourceType, 'resourceType');
  demandText(action, 'action');
  return {
    ...parseStart(input),
    proposalId,
    resourceType: resourceType as ResourceType,
    action: action as ProposalAction,
  };
}

/** What a handler answers: the state it left, or why it refused. */
export type MessageResult =
  | {
      readonly ok: true;
      readonly state: ProposalState;
      /** Other open proposals have been noted on: their workflows have something to learn. */
      readonly noted?: boolean;
    }
  | { readonly ok: false; readonly refusal: Refusal };

/** What the create of a proposal answers to its workflow. */
export type CreateResult =
  | {
      readonly ok: true;
      readonly state: ProposalState;
      /** It cannot be carried out before the signer has made the organization's key known. */
      readonly needsSigningKey: boolean;
    }
  | { readonly ok: false; readonly refusal: Refusal };

/** What a proposal's workflow listens to. */
export const proposalMessages = {
  /** Waits for the outcome of the create, which is the workflow's own first act. */
  created: defineUpdate<MessageResult>('created'),
  /** Signs, and answers. */
  sign: defineUpdate<MessageResult, [SignMessage]>('sign'),
  /** Signs, for programs that cannot wait for an answer. */
  signSignal: defineSignal<[SignMessage]>('signProposal'),
  /** Executes an outcome whose threshold is met, and answers when the execution has begun. */
  execute: defineUpdate<MessageResult, [ExecuteMessage]>('execute'),
  /** Tries a failed or blocked execution again; for operators, needs no argument. */
  retryExecution: defineUpdate<MessageResult>('retryExecution'),
  /** The same as a signal: the button in the Temporal UI. */
  retryExecutionSignal: defineSignal('retryExecution'),
  /** Reads the record again: something outside has changed. */
  refresh: defineSignal('refresh'),
  /** How the proposal stands, as the workflow last saw it. */
  state: defineQuery<ProposalState | null>('state'),
} as const;
