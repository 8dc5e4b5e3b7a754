import type { JsonValue } from './canonicalJson';
import type { Policy } from './policy';
import { approversOf, mayInitiate, type PolicyContext } from './policyEngine';
import {
  assertNever,
  type ExecutionStatus,
  type Failure,
  isExpired,
  type MemberSummary,
  type Note,
  reviewStatus,
  type SignatureStatus,
  type Standing,
  stateNotes,
  stateSummary,
} from './proposal';
import { accept, type Outcome, type Refusal, refuse } from './refusal';
import type { TransactionContent } from './transactionContent';

/** What can be signed about a transaction; the initiator comes first. */
export type TransactionVoteType = 'initiator' | 'approve' | 'reject';

/** A recorded signature. It counts while its signer may give it, with that wallet. */
export interface TransactionVote {
  readonly memberId: string;
  readonly type: TransactionVoteType;
  readonly signerAddress: string;
  /** keccak256 of the signature as it was sent. */
  readonly signatureHash: string;
  /** The initiator's signature that an approval or rejection is bound to; null for the initiator's own. */
  readonly initiatorSignatureHash: string | null;
}

/** What a transaction did on chain, from its first broadcast on. */
export interface TransactionOnChain {
  readonly transactionHash: string;
  readonly submittedAt: Date;
  readonly confirmations: number;
}

/** What came of a transaction. Hash and block are those of the transaction that carried it. */
export interface TransactionResult {
  readonly resolution: 'approved' | 'rejected';
  readonly transactionHash?: string;
  readonly blockNumber?: number;
}

/** How the votes of a transaction stand. */
export interface TransactionStanding extends Standing {
  readonly initiator: MemberSummary;
}

/** A stored transaction, with everything its state depends on. */
export interface TransactionRecord {
  readonly id: string;
  readonly organizationId: string;
  readonly accountId: string;
  /** Checksummed. */
  readonly accountAddress: string;
  readonly networkId: number;
  readonly policyId: string;
  /** As they are now, or were when they left. */
  readonly initiator: MemberSummary;
  readonly description: string;
  readonly type: TransactionContent['type'];
  /** Checksummed. */
  readonly to: string;
  /** In wei. */
  readonly value: bigint;
  /** 0x hex, as it was sent. */
  readonly calldata: string;
  /** The same in the words of the API. */
  readonly content: JsonValue;
  readonly summary: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly expiresAt: Date;
  readonly version: number;
  readonly executionStatus: ExecutionStatus | null;
  readonly executionAttempt: number;
  readonly failure: Failure | null;
  readonly notes: readonly Note[];
  readonly result: TransactionResult | null;
  readonly chain: TransactionOnChain | null;
  /** What an execution waits for, in words. */
  readonly waitingFor: string | null;
  /** Coin in wei that the relayer lacks: the execution goes on by itself when it has it. */
  readonly awaitsRelayerWei: bigint | null;
  /** An operator wants the attempt that is on its way to come to nothing. */
  readonly givingUp: boolean;
  readonly closed: boolean;
  /** How the votes stood when the last execution began. */
  readonly executedWith: TransactionStanding | null;
  readonly frozen: TransactionStanding | null;
  readonly votes: readonly TransactionVote[];
}

/** The world in which a transaction's state is computed: its policy and the people of now, and the database's time. */
export interface TransactionNow extends Pick<PolicyContext, 'members' | 'groups'> {
  readonly time: Date;
  /** As it is now; one that was removed, as it was last. */
  readonly policy: Policy;
  readonly policyRemoved: boolean;
}

function sameAddress(one: string, two: string): boolean {
  return one.toLowerCase() === two.toLowerCase();
}

/** The initiator's signature that counts now: theirs, with the wallet they have now. Undefined while there is none. */
export function initiatorVote<V extends TransactionVote>(
  { initiator, votes }: { readonly initiator: MemberSummary; readonly votes: readonly V[] },
  { members }: Pick<TransactionNow, 'members'>,
): V | undefined {
  const member = members.get(initiator.id);
  return votes.find(
    (vote) =>
      vote.type === 'initiator' &&
      vote.memberId === member?.id &&
      sameAddress(vote.signerAddress, member.walletAddress),
  );
}

/** Whether a member may sign a transaction in that way now. */
export function maySign(
  { initiator }: Pick<TransactionRecord, 'initiator'>,
  now: TransactionNow,
  type: TransactionVoteType,
  member: Pick<MemberSummary, 'id'>,
): boolean {
  if (type === 'initiator') return member.id === initiator.id;
  if (now.policy.type === 'AUTO_APPROVAL') {
    return type === 'reject' && mayInitiate(now.policy, member.id, now);
  }
  return approversOf(now.policy, initiator.id, now).approvers.some(({ id }) => id === member.id);
}

/** The members of now whose vote of that type counts. */
export function transactionVoters(
  record: Pick<TransactionRecord, 'initiator' | 'votes'>,
  now: TransactionNow,
  type: TransactionVoteType,
): readonly MemberSummary[] {
  const begun = initiatorVote(record, now);
  if (!begun) return [];
  const members = new Map(now.members);
  for (const group of now.groups.values()) for (const member of group) members.set(member.id, member);
  const counts = (vote: TransactionVote, member: MemberSummary) =>
    vote.type === type &&
    vote.memberId === member.id &&
    sameAddress(vote.signerAddress, member.walletAddress) &&
    (type === 'initiator' || vote.initiatorSignatureHash === begun.signatureHash);
  return [...members.values()]
    .filter(
      (member) => maySign(record, now, type, member) && record.votes.some((vote) => counts(vote, member)),
    )
    .sort((one, two) => (one.id < two.id ? -1 : 1));
}

/** How many signatures approve a transaction, and how many reject it. */
function thresholds({ initiator }: Pick<TransactionRecord, 'initiator'>, now: TransactionNow) {
  const { threshold } = approversOf(now.policy, initiator.id, now);
  return { approve: threshold, reject: Math.max(1, threshold) };
}

function openStatus(
  record: TransactionRecord,
  now: TransactionNow,
  votes: { approvals: number; rejections: number },
): SignatureStatus {
  if (isExpired(record, now.time) && record.executionStatus !== 'processing') return 'expired';
  if (!initiatorVote(record, now)) return 'pendingInitiatorSignature';
  const needed = thresholds(record, now);
  if (needed.approve === 0) return votes.rejections > 0 ? 'approvalAndRejectionReady' : 'approvalReady';
  return reviewStatus(votes.approvals, votes.rejections, needed.approve);
}

/**
 * How the votes of a transaction stand now; as they stood when its execution began, while that goes on, and frozen
 * values once nothing can change.
 */
export function transactionStanding(record: TransactionRecord, now: TransactionNow): TransactionStanding {
  if (record.frozen) return record.frozen;
  if (record.executionStatus === 'processing' && record.executedWith) return record.executedWith;
  const approvals = transactionVoters(record, now, 'approve');
  const rejections = transactionVoters(record, now, 'reject');
  return {
    initiator: record.initiator,
    threshold: thresholds(record, now).approve,
    approvals,
    rejections,
    signatureStatus: openStatus(record, now, {
      approvals: approvals.length,
      rejections: rejections.length,
    }),
  };
}

/** True while the transaction can still change. */
export function isTransactionOpen(record: TransactionRecord, time: Date): boolean {
  return !record.closed && (!isExpired(record, time) || record.executionStatus === 'processing');
}

/** True while signatures can be collected; only then are signing payloads shown. */
export function collectsTransactionSignatures(record: TransactionRecord, time: Date): boolean {
  return !record.closed && record.executionStatus !== 'processing' && !isExpired(record, time);
}

function refuseSettled(record: TransactionRecord, time: Date): Refusal | null {
  const conflict = (what: string): Refusal => ({
    code: 'conflict',
    message: `transaction ${record.id} ${what}`,
  });
  if (record.closed && record.failure?.code === 'closedByOperator')
    return conflict('has been closed by an operator');
  switch (record.executionStatus) {
    case 'processing':
      return conflict('is being executed');
    case 'completed':
      return conflict('has been executed');
    case 'rejected':
      return conflict('has been rejected');
    case 'failed':
    case 'blocked':
    case null:
      break;
    default:
      return assertNever(record.executionStatus);
  }
  if (!record.closed && !isExpired(record, time)) return null;
  return {
    code: 'proposalExpired',
    message: `transaction ${record.id} expired at ${record.expiresAt.toISOString()}`,
  };
}

/** Whether anybody can sign in that way now. Refuses with conflict or proposalExpired. */
export function checkTransactionOpenTo(
  record: TransactionRecord,
  now: TransactionNow,
  type: TransactionVoteType,
): Outcome<null> {
  const settled = refuseSettled(record, now.time);
  if (settled) return { ok: false, refusal: settled };
  if (type !== 'initiator' && !initiatorVote(record, now)) {
    return refuse('conflict', `transaction ${record.id} waits for the signature of its initiator first`);
  }
  return accept(null);
}

/** Whether a vote of a member who may give it can be recorded now. Refuses with conflict or proposalExpired. */
export function checkTransactionVote(
  record: TransactionRecord,
  now: TransactionNow,
  { member, type }: { member: MemberSummary; type: TransactionVoteType },
): Outcome<null> {
  const open = checkTransactionOpenTo(record, now, type);
  if (!open.ok) return open;
  if (transactionVoters(record, now, type).some(({ id }) => id === member.id)) {
    const what = type === 'initiator' ? 'signed' : `signed to ${type}`;
    return refuse('conflict', `member ${member.id} has already ${what} transaction ${record.id}`);
  }
  return accept(null);
}

/** Whether an outcome can be executed now. Refuses with conflict, proposalExpired or thresholdNotMet. */
export function checkTransactionExecution(
  record: TransactionRecord,
  now: TransactionNow,
  type: 'approve' | 'reject',
): Outcome<null> {
  const settled = refuseSettled(record, now.time);
  if (settled) return { ok: false, refusal: settled };
  if (!initiatorVote(record, now)) {
    return refuse('thresholdNotMet', `transaction ${record.id} has no signature of its initiator yet`);
  }
  const needed = thresholds(record, now)[type];
  const votes = transactionVoters(record, now, type).length;
  if (votes >= needed) return accept(null);
  return refuse(
    'thresholdNotMet',
    `transaction ${record.id} has ${votes} of ${needed} signatures needed to ${type} it`,
  );
}

/** What a workflow keeps of a transaction: enough for its query, its timers and the words an operator reads. */
export interface TransactionState {
  readonly transactionId: string;
  readonly organizationId: string;
  readonly accountId: string;
  readonly networkId: number;
  readonly policyId: string;
  readonly version: number;
  readonly summary: string;
  readonly signatureStatus: SignatureStatus;
  readonly executionStatus: ExecutionStatus | null;
  readonly initiator: MemberSummary;
  readonly threshold: number;
  readonly approvals: readonly MemberSummary[];
  readonly rejections: readonly MemberSummary[];
  /** Which outcomes can be executed now. */
  readonly ready: readonly ('approve' | 'reject')[];
  readonly expiresAt: string;
  /** It can still change. */
  readonly open: boolean;
  /** Nothing is left to do, for anybody. */
  readonly closed: boolean;
  readonly failure: Failure | null;
  readonly notes: readonly Note[];
  readonly transactionHash: string | null;
  readonly waitingFor: string | null;
  /** Decimal wei. */
  readonly awaitsRelayerWei: string | null;
  readonly givingUp: boolean;
}

/** The state of a record now: a long summary is cut, and of many notes the latest are there. */
export function transactionState(record: TransactionRecord, now: TransactionNow): TransactionState {
  const { signatureStatus, threshold, approvals, rejections, initiator } = transactionStanding(record, now);
  const outcomes = ['approve', 'reject'] as const;
  return {
    transactionId: record.id,
    organizationId: record.organizationId,
    accountId: record.accountId,
    networkId: record.networkId,
    policyId: record.policyId,
    version: record.version,
    summary: stateSummary(record.summary),
    signatureStatus,
    executionStatus: record.executionStatus,
    initiator,
    threshold,
    approvals,
    rejections,
    ready: outcomes.filter((type) => checkTransactionExecution(record, now, type).ok),
    expiresAt: record.expiresAt.toISOString(),
    open: isTransactionOpen(record, now.time),
    closed: record.closed,
    failure: record.failure,
    notes: stateNotes(record.notes),
    transactionHash: record.chain?.transactionHash ?? null,
    waitingFor: record.waitingFor,
    awaitsRelayerWei: record.awaitsRelayerWei === null ? null : String(record.awaitsRelayerWei),
    givingUp: record.givingUp,
  };
}
