import type { MemberSummary, SignatureStatus } from './approval';
import { collectsSignatures, shownFailure, tally } from './approvalState';
import { initiatorPayload, transactionPayload } from './signing';
import {
  type EvaluationContext,
  initiatorVote,
  type TransactionRecord,
  transactionRules,
} from './transaction';

/** The payloads to approve and to reject a transaction, bound to the initiator's signature. */
function reviewPayloads(
  record: TransactionRecord,
  initiatorSignatureHash: string,
): { readonly approvePayload: string; readonly rejectPayload: string } {
  return {
    approvePayload: transactionPayload('ApproveTransaction', record, initiatorSignatureHash),
    rejectPayload: transactionPayload('RejectTransaction', record, initiatorSignatureHash),
  };
}

/** The initiator's signature that the others are bound to; after closing, the one at closing. */
function initiatedBy(record: TransactionRecord, now: EvaluationContext) {
  if (!record.finalTally) return initiatorVote(record, now);
  const { votes } = record;
  const initiator = record.finalTally.initiator ?? record.initiator;
  const then = initiatorVote({ initiator, votes }, { members: new Map([[initiator.id, initiator]]) });
  return then ?? votes.filter(({ type }) => type === 'initiator').at(-1);
}

/** The payloads that belong to a signature status. */
function payloadsOf(record: TransactionRecord, now: EvaluationContext, status: SignatureStatus) {
  if (status === 'expired') return {};
  const initiated = status === 'pendingInitiatorSignature' ? undefined : initiatedBy(record, now);
  return initiated
    ? reviewPayloads(record, initiated.signatureHash)
    : { initiatorPayload: initiatorPayload(record) };
}

/**
 * What the initiator signs again, beside what others sign: their contract wallet may not accept the signature any more for which the
 * execution was blocked.
 */
function againPayload({ record, initiator }: { record: TransactionRecord; initiator: MemberSummary }) {
  const { executionStatus, failure } = record;
  const mayBeRefused = executionStatus === 'blocked' && failure?.code === 'stale';
  return mayBeRefused && initiator.walletKind === 'contract'
    ? { initiatorPayload: initiatorPayload(record) }
    : {};
}

/** A transaction as the API shows it. */
export function transactionView(record: TransactionRecord, now: EvaluationContext) {
  const { externalId, metadata, tags } = record.references;
  const counted = tally(transactionRules, record, now);
  const { signatureStatus, threshold, approvals, rejections, initiator = record.initiator } = counted;
  const { executionStatus } = record;
  const payloads = payloadsOf(record, now, signatureStatus);
  const { id, accountId, networkId, description, type, to, calldata, summary } = record;
  return {
    id,
    accountId,
    networkId,
    description,
    type,
    to,
    value: String(record.value),
    calldata,
    summary,
    ...(record.replaces === null ? {} : { replaces: record.replaces }),
    ...(externalId === null ? {} : { externalId }),
    metadata,
    tags,
    initiator,
    policy: { id: record.policyId, threshold },
    signatureStatus,
    executionStatus,
    threshold,
    approvals,
    rejections,
    ...(collectsSignatures(record, now.time)
      ? { signingPayloads: { ...payloads, ...againPayload({ record, initiator }) } }
      : {}),
    signatureData: { status: signatureStatus, ...payloads },
    data: record.content,
    ...(record.chain
      ? { chain: { ...record.chain, submittedAt: record.chain.submittedAt.toISOString() } }
      : {}),
    ...(record.result && (executionStatus === 'completed' || executionStatus === 'rejected')
      ? { result: record.result }
      : {}),
    ...(record.fees ? { fees: record.fees } : {}),
    ...shownFailure(transactionRules, record, now),
    notes: record.notes,
    createdAt: record.createdAt.toISOString(),
    updatedAt: record.updatedAt.toISOString(),
    expiresAt: record.expiresAt.toISOString(),
  };
}
