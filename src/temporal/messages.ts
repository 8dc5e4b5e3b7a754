import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import { z } from 'zod/mini';
import type { ApprovalState } from '../domain/approvalState';
import { ENDED } from '../domain/reconciliation';
import type { Refusal } from '../domain/refusal';

// Messages are untrusted: anyone who can reach Temporal can send them. An object schema keeps only the fields that it names.
// Schemas are not exported: the SDK freezes what shared modules export, and zod writes to a schema when it first parses.

/** Longest signature that a message may carry, in characters of hex: 64 KiB. */
const MAX_SIGNATURE_LENGTH = 131_074;
const MAX_REASON_LENGTH = 500;
/** Characters that texts of messages must not contain: control, lone surrogates, bidirectional control. */
const UNPRINTABLE = /[\p{Cc}\p{Surrogate}\p{Bidi_Control}\u2028\u2029]/u;

const text = z.string().check(z.refine((value) => !UNPRINTABLE.test(value), 'no control characters'));
const reason = text.check(
  z.refine((value) => [...value].length <= MAX_REASON_LENGTH, 'at most 500 characters'),
);
const requestId = z.optional(z.uuid());
const queues = z.object({ chain: z.string(), signer: z.string() });

/** Parses a message, an input or an id; other fields are dropped. Throws TypeError. */
export type Parser<T> = (message: unknown) => T;

function parserOf<T>(schema: z.ZodMiniType<T>): Parser<T> {
  return (message) => {
    const parsed = schema.safeParse(message);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    const field = issue?.path.join('.') || 'message';
    throw new TypeError(`invalid ${field}: ${issue?.message ?? 'unknown'}`);
  };
}

/** The status in which a restarted workflow was found. */
const found = z.union([
  z.object({ status: z.literal('missing') }),
  z.object({ status: z.enum(ENDED), runId: z.uuid(), byOperator: z.boolean(), reason }),
]);

const start = {
  organizationId: text,
  id: text,
  /** Id of the stored request with the content. Absent when the workflow continues an existing record. */
  requestId,
  /** The status of the workflow that this one replaces, when it was restarted. */
  found: z.optional(found),
  /** The list of workflows is not to show amounts. */
  hidesAmount: z.optional(z.literal(true)),
  /** Task queues of the activities that are not local. */
  queues,
};

/** Parses the input of a proposal's workflow: ids only; the content is in the database. */
export const parseProposalInput = parserOf(
  z.object({
    ...start,
    resourceType: z.enum(['members', 'groups', 'policies', 'accounts', 'admins']),
    action: z.enum(['create', 'update', 'remove', 'delete']),
  }),
);
export type ProposalInput = ReturnType<typeof parseProposalInput>;

/** Parses the input of a transaction's workflow: ids only; the content is in the database. */
export const parseTransactionInput = parserOf(z.object(start));
export type TransactionInput = ReturnType<typeof parseTransactionInput>;

/** Parses the input of the workflow of a destination: ids, and up to where it is known to have come. */
export const parseDeliveryInput = parserOf(
  z.object({
    organizationId: text,
    id: text,
    known: z.optional(z.object({ position: z.string().check(z.regex(/^\d{1,18}$/)), hash: text })),
    /** Task queue of its activities. */
    queue: z.string(),
  }),
);
export type DeliveryInput = ReturnType<typeof parseDeliveryInput>;

/** The messages of the workflow of a destination. All are signals without an argument: buttons in the Temporal UI. */
export const deliveryMessages = {
  /** There may be more to send. */
  wake: defineSignal('wake'),
  /** Something was changed, or somebody wants an attempt now. */
  refresh: defineSignal('refresh'),
  /** Sends nothing until `resume`. */
  pause: defineSignal('pause'),
  resume: defineSignal('resume'),
} as const;

const signature = {
  /** ABI-encoded `(address signer, bytes signature)` as 0x hex. */
  signature: z.string().check(z.maxLength(MAX_SIGNATURE_LENGTH)),
  reason: z.optional(reason),
  /** Execute its decision as well, if its threshold is met. */
  execute: z.optional(z.boolean()),
  /** Id of the stored request that carried it, when it came through the API. */
  requestId,
};

/** Parses a signature on a proposal, by update or signal. */
export const parseProposalSignMessage = parserOf(
  z.object({ type: z.enum(['approve', 'reject']), ...signature }),
);
/** Parses a signature on a transaction, by update or signal. */
export const parseTransactionSignMessage = parserOf(
  z.object({ type: z.enum(['initiator', 'approve', 'reject']), ...signature }),
);
/** A signature on either. */
export type SignMessage = ReturnType<typeof parseTransactionSignMessage>;

/** Parses the request to execute a decision. */
export const parseExecuteMessage = parserOf(z.object({ type: z.enum(['approve', 'reject']), requestId }));
export type ExecuteMessage = ReturnType<typeof parseExecuteMessage>;

/** Parses the id of a message: a text that can be stored. */
export const parseMessageId = parserOf(text);

/** The result of a handler: the new state, or why it refused. */
export type MessageResult<S extends ApprovalState> =
  | { readonly ok: true; readonly state: S }
  | { readonly ok: false; readonly refusal: Refusal };

/** The messages of an approval's workflow. */
function messagesOf<S extends ApprovalState>() {
  return {
    /** Waits for the outcome of the creation, with which the workflow begins. */
    created: defineUpdate<MessageResult<S>>('created'),
    /** Signs, and answers. */
    sign: defineUpdate<MessageResult<S>, [SignMessage]>('sign'),
    /** Signs, without waiting for an answer. */
    signSignal: defineSignal<[SignMessage]>('sign'),
    /** Executes a decision whose threshold is met, and returns when the execution has begun. */
    execute: defineUpdate<MessageResult<S>, [ExecuteMessage]>('execute'),
    /** Retries a failed or blocked execution; for operators, needs no argument. */
    retryExecution: defineUpdate<MessageResult<S>>('retryExecution'),
    /** The same as a signal: the button in the Temporal UI. */
    retryExecutionSignal: defineSignal('retryExecution'),
    /** Cancels the in-flight attempt of a transaction: an empty call uses up its nonce; for operators. */
    cancelTransaction: defineUpdate<MessageResult<S>>('cancelTransaction'),
    /** The same as a signal: the button in the Temporal UI. */
    cancelTransactionSignal: defineSignal('cancelTransaction'),
    /** Reads the record again: something outside has changed. */
    refresh: defineSignal('refresh'),
    /** The last known state. */
    state: defineQuery<S | null>('state'),
  } as const;
}

export type ApprovalMessages<S extends ApprovalState> = ReturnType<typeof messagesOf<S>>;

/** The messages of an approval's workflow, typed by the state of its subject. */
export function approvalMessages<S extends ApprovalState>(): ApprovalMessages<S> {
  return messagesOf<S>();
}
