import { isSameAddress } from './address';
import { accept, type Refusal, type Result, refuse } from './refusal';
import { type SignatureScheme, type WalletKind, walletKindOf } from './wallet';

/** What an approval is about: an organization operation, or a transaction of an account. */
export type Subject = 'proposal' | 'transaction';

/** What can be signed. Only a transaction has an initiator who signs first. */
export type VoteType = 'initiator' | 'approve' | 'reject';
/** The two outcomes that can be executed. */
export type Decision = 'approve' | 'reject';
export type SignatureStatus =
  | 'pendingInitiatorSignature'
  | 'pendingReviewSignatures'
  | 'approvalReady'
  | 'rejectionReady'
  | 'approvalAndRejectionReady'
  | 'expired';
export type ExecutionStatus = 'processing' | 'completed' | 'rejected' | 'failed' | 'blocked';
export type FailureCode =
  | 'rpc'
  | 'reverted'
  /** The account has less than it sends. */
  | 'accountFunds'
  /** Gas costs more than the network's ceiling. */
  | 'feeCeiling'
  /** The relayer cannot pay for the gas. */
  | 'relayerFunds'
  | 'policy'
  | 'budget'
  | 'stale'
  | 'timeout'
  | 'endpoints'
  | 'closedByOperator';

/** A member as others see it. `walletAddress` is checksummed (EIP-55). */
export interface MemberSummary {
  readonly id: string;
  readonly name: string;
  readonly type: 'user' | 'api';
  readonly walletAddress: string;
  readonly walletKind: WalletKind;
}

/** The fields of a member in proposals and votes. */
export function toMemberSummary({ id, name, type, walletAddress, walletKind }: MemberSummary): MemberSummary {
  return { id, name, type, walletAddress, walletKind };
}

/** A recorded signature. It counts while its member is eligible, with that wallet, of the same kind. */
export interface Vote {
  readonly memberId: string;
  readonly type: VoteType;
  readonly signerAddress: string;
  readonly scheme: SignatureScheme;
  /** keccak256 of the signature as it was sent. */
  readonly signatureHash: string;
  /** The initiator's signature that an approval or rejection of a transaction is bound to; null for all others. */
  readonly initiatorSignatureHash: string | null;
}

/** Why an execution did not succeed. */
export interface Failure {
  readonly code: FailureCode;
  readonly message: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly attempt: number;
  readonly transactionHash?: string;
}

/** A change elsewhere that concerns an approval, as text. */
export interface Note {
  readonly at: string;
  readonly code: string;
  readonly message: string;
}

/** The votes that count, against the number that is needed. */
export interface Tally {
  readonly signatureStatus: SignatureStatus;
  readonly threshold: number;
  readonly approvals: readonly MemberSummary[];
  readonly rejections: readonly MemberSummary[];
  /** The initiator of a transaction; a proposal has none. */
  readonly initiator?: MemberSummary;
}

/** The part of every subject's record that the shared rules depend on. */
export interface ApprovalRecord {
  readonly id: string;
  readonly organizationId: string;
  readonly summary: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly version: number;
  readonly executionStatus: ExecutionStatus | null;
  readonly executionAttempt: number;
  /** The decision whose execution was begun last. */
  readonly decision: Decision | null;
  /** The tally when the last execution began. */
  readonly executedWith: Tally | null;
  readonly failure: Failure | null;
  readonly notes: readonly Note[];
  readonly closed: boolean;
  /** The tally at closing. */
  readonly finalTally: Tally | null;
  readonly votes: readonly Vote[];
}

/** The state that the rules of a record depend on: the database's time, and what its subject adds. */
export interface ApprovalContext {
  readonly time: Date;
}

/** The rules that depend on the subject. `R` is its record, `N` the state that they depend on. */
export interface ApprovalRules<R extends ApprovalRecord, N extends ApprovalContext> {
  readonly subject: Subject;
  /** Every member who may be eligible, in the order of their ids. */
  people(now: N): readonly MemberSummary[];
  /** Whether a member may cast a vote of that type now. */
  mayVote(record: R, now: N, type: VoteType, member: Pick<MemberSummary, 'id'>): boolean;
  /** False for a vote that is bound to an initiator's signature that no longer counts. */
  isBound(record: R, now: N, vote: Vote): boolean;
  /** How many votes each decision needs. */
  thresholds(record: R, now: N): { readonly [decision in Decision]: number };
  /** True once approvals and rejections can be collected. */
  isInitiated(record: R, now: N): boolean;
  /** True when part of it is done that a rejection cannot undo. */
  isPartlyDone(record: R): boolean;
  /** True while its execution may still be finished after its expiry. */
  isFinishable(record: R): boolean;
  readonly initiatorOf?: (record: R) => MemberSummary;
  /** True while a failed execution waits for something that is watched, and is then started again. */
  readonly awaitsResumption?: (record: R) => boolean;
}

/** Throws at run time for a value that the types rule out. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${String(value)}`);
}

/** The expiry that is signed, in whole seconds, of an approval created at `time`. */
export function expiryOf(time: Date, lifetimeMs: number): Date {
  return new Date(Math.floor((time.getTime() + lifetimeMs) / 1_000) * 1_000);
}

/** True from the first instant after the signed expiry: a record is valid while now <= expiresAt. */
export function isExpired(record: Pick<ApprovalRecord, 'expiresAt'>, time: Date): boolean {
  return time.getTime() > record.expiresAt.getTime();
}

/** True for a vote of a member with the wallet that they have, given under the kind that the wallet has. */
export function isVoteOf(
  { id, walletAddress, walletKind }: MemberSummary,
  { memberId, signerAddress, scheme }: Pick<Vote, 'memberId' | 'signerAddress' | 'scheme'>,
): boolean {
  return (
    id === memberId && isSameAddress(walletAddress, signerAddress) && walletKind === walletKindOf(scheme)
  );
}

/**
 * The votes of a type that count now: their member is eligible, with the wallet that signed. Several of a member where a
 * contract wallet did not accept the earlier ones any more.
 */
export function countedVotes<R extends ApprovalRecord, N extends ApprovalContext>(
  rules: ApprovalRules<R, N>,
  record: R,
  now: N,
  type: VoteType,
): R['votes'][number][] {
  const people = rules.people(now);
  return record.votes.filter(
    (vote) =>
      vote.type === type &&
      rules.isBound(record, now, vote) &&
      people.some((member) => isVoteOf(member, vote) && rules.mayVote(record, now, type, member)),
  );
}

/** Of each member the newest of these votes: a contract wallet may accept several. */
export function newestVotes<V extends Pick<Vote, 'memberId'>>(votes: readonly V[]): readonly V[] {
  return [...new Map(votes.map((vote) => [vote.memberId, vote])).values()];
}

/** The members whose vote of that type counts now, in the order of their ids. */
export function countedVoters<R extends ApprovalRecord, N extends ApprovalContext>(
  rules: ApprovalRules<R, N>,
  record: R,
  now: N,
  type: VoteType,
): readonly MemberSummary[] {
  const voters = new Set(countedVotes(rules, record, now, type).map(({ memberId }) => memberId));
  return rules.people(now).filter(({ id }) => voters.has(id));
}

/** True when the chain has decided against it: what was signed for it is used up. */
export function hasFailedForGood({
  closed,
  expired,
  executionStatus,
  failure,
}: Pick<ApprovalRecord, 'closed' | 'executionStatus' | 'failure'> & { readonly expired: boolean }): boolean {
  return closed && executionStatus === 'failed' && !expired && failure?.code !== 'closedByOperator';
}

/** True once the expiry of a record is stored. */
export function hasExpired({ finalTally }: Pick<ApprovalRecord, 'finalTally'>): boolean {
  return finalTally?.signatureStatus === 'expired';
}

/** Why nothing can be decided of a record any more: it is being executed, done, or closed; null while it can. */
export function refuseDecided(subject: Subject, record: ApprovalRecord): Refusal | null {
  const conflict = (what: string): Refusal => ({
    code: 'conflict',
    message: `${subject} ${record.id} ${what}`,
  });
  if (record.closed && record.failure?.code === 'closedByOperator') {
    return conflict('has been closed by an operator');
  }
  switch (record.executionStatus) {
    case 'processing':
      return conflict('is being executed');
    case 'completed':
      return conflict('has been executed');
    case 'rejected':
      return conflict('has been rejected');
    case 'failed':
    case 'blocked':
      return hasFailedForGood({ ...record, expired: hasExpired(record) })
        ? conflict('has failed on chain and cannot be executed again')
        : null;
    case null:
      return null;
    default:
      return assertNever(record.executionStatus);
  }
}

/** The refusal of what comes after the expiry of a record. */
export function refuseExpired(subject: Subject, record: ApprovalRecord): Refusal {
  return {
    code: 'proposalExpired',
    message: `${subject} ${record.id} expired at ${record.expiresAt.toISOString()}`,
  };
}

/**
 * Whether a decision can be executed now. Refuses with conflict (being executed, decided, or partly done and to be
 * rejected), proposalExpired or thresholdNotMet.
 */
export function checkExecution<R extends ApprovalRecord, N extends ApprovalContext>(
  rules: ApprovalRules<R, N>,
  record: R,
  now: N,
  decision: Decision,
): Result<null> {
  const { subject } = rules;
  const decided = refuseDecided(subject, record);
  if (decided) return { ok: false, refusal: decided };
  if (record.closed) return { ok: false, refusal: refuseExpired(subject, record) };
  if (isExpired(record, now.time)) {
    const finishes = decision === 'approve' && rules.isFinishable(record);
    return finishes ? accept(null) : { ok: false, refusal: refuseExpired(subject, record) };
  }
  if (!rules.isInitiated(record, now)) {
    return refuse('thresholdNotMet', `${subject} ${record.id} has no signature of its initiator yet`);
  }
  const needed = rules.thresholds(record, now)[decision];
  const votes = countedVoters(rules, record, now, decision).length;
  if (votes < needed) {
    return refuse(
      'thresholdNotMet',
      `${subject} ${record.id} has ${votes} of ${needed} signatures needed to ${decision} it`,
    );
  }
  if (decision === 'reject' && rules.isPartlyDone(record)) {
    return refuse('conflict', `${subject} ${record.id} is partly executed and cannot be rejected`);
  }
  return accept(null);
}
