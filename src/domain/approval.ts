import { isSameAddress } from './address';
import { accept, type Refusal, type Result, refuse } from './refusal';
import { type SignatureScheme, type WalletKind, walletKindOf } from './wallet';

/** What an approval is about: an organization operation, or a transaction of an account. */
export type Subject = 'proposal' | 'transaction';

/** What can be signed. Only a transaction has an initiator who signs first. */
export type VoteType = 'initiator' | 'approve' | 'reject';
/** The two outcomes that can be executed. */
export type Decision = 'approve' | 'reject';
export const DECISIONS = ['approve', 'reject'] as const satisfies readonly Decision[];

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

/** The shared part of a new record: no votes, no execution. */
export function newApprovalRecord(
  created: Pick<ApprovalRecord, 'id' | 'organizationId' | 'summary' | 'createdAt' | 'expiresAt' | 'notes'>,
): ApprovalRecord {
  return {
    ...created,
    version: 1,
    executionStatus: null,
    executionAttempt: 0,
    decision: null,
    executedWith: null,
    failure: null,
    closed: false,
    finalTally: null,
    votes: [],
  };
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

/** The decision that a vote counts for. */
export function decisionOfVote(type: VoteType): Decision {
  return type === 'reject' ? 'reject' : 'approve';
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

/** The status of a number of approvals and rejections against the thresholds. */
export function reviewStatus(
  votes: { readonly approvals: number; readonly rejections: number },
  needed: { readonly [decision in Decision]: number },
): SignatureStatus {
  const approved = votes.approvals >= needed.approve;
  const rejected = votes.rejections >= needed.reject;
  if (approved && rejected) return 'approvalAndRejectionReady';
  if (approved) return 'approvalReady';
  if (rejected) return 'rejectionReady';
  return 'pendingReviewSignatures';
}

/**
 * The tally of a record: frozen once it is closed; the one at the beginning while an execution is in progress; else the
 * votes of the members who are eligible now, against the current thresholds.
 */
export function tally<R extends ApprovalRecord, N extends ApprovalContext>(
  rules: ApprovalRules<R, N>,
  record: R,
  now: N,
): Tally {
  if (record.finalTally) return record.finalTally;
  const isProcessing = record.executionStatus === 'processing';
  if (isProcessing && record.executedWith) return record.executedWith;
  const approvals = countedVoters(rules, record, now, 'approve');
  const rejections = countedVoters(rules, record, now, 'reject');
  const needed = rules.thresholds(record, now);
  const status = (): SignatureStatus => {
    if (isExpired(record, now.time) && !isProcessing) return 'expired';
    if (!rules.isInitiated(record, now)) return 'pendingInitiatorSignature';
    return reviewStatus({ approvals: approvals.length, rejections: rejections.length }, needed);
  };
  return {
    ...(rules.initiatorOf ? { initiator: rules.initiatorOf(record) } : {}),
    threshold: needed.approve,
    approvals,
    rejections,
    signatureStatus: status(),
  };
}

/** True while the record can still change. */
export function isOpen<R extends ApprovalRecord>(
  rules: Pick<ApprovalRules<R, never>, 'isFinishable'>,
  record: R,
  time: Date,
): boolean {
  if (record.closed) return false;
  return !isExpired(record, time) || record.executionStatus === 'processing' || rules.isFinishable(record);
}

/** True while signatures can be collected; only then are signing payloads shown. */
export function collectsSignatures(
  record: Pick<ApprovalRecord, 'closed' | 'executionStatus' | 'expiresAt'>,
  time: Date,
): boolean {
  return !record.closed && record.executionStatus !== 'processing' && !isExpired(record, time);
}

/** True when the chain has decided against it: what was signed for it is used up. */
export function hasFailedForGood({
  closed,
  expired,
  executionStatus,
  failure,
}: Pick<ApprovalState, 'closed' | 'expired' | 'executionStatus' | 'failure'>): boolean {
  return closed && executionStatus === 'failed' && !expired && failure?.code !== 'closedByOperator';
}

/** True once the expiry of a record is stored. */
function hasExpired({ finalTally }: Pick<ApprovalRecord, 'finalTally'>): boolean {
  return finalTally?.signatureStatus === 'expired';
}

function refuseDecided(subject: Subject, record: ApprovalRecord): Refusal | null {
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

function refuseExpired(subject: Subject, record: ApprovalRecord): Refusal {
  return {
    code: 'proposalExpired',
    message: `${subject} ${record.id} expired at ${record.expiresAt.toISOString()}`,
  };
}

/** Whether signatures can be collected now. Refuses with conflict or proposalExpired. */
export function checkOpen(subject: Subject, record: ApprovalRecord, time: Date): Result<null> {
  const decided = refuseDecided(subject, record);
  if (decided) return { ok: false, refusal: decided };
  if (record.closed || isExpired(record, time)) {
    return { ok: false, refusal: refuseExpired(subject, record) };
  }
  return accept(null);
}

/** Whether a vote of that type can be cast now. Refuses with conflict or proposalExpired. */
export function checkOpenToVotes<R extends ApprovalRecord, N extends ApprovalContext>(
  rules: ApprovalRules<R, N>,
  record: R,
  now: N,
  type: VoteType,
): Result<null> {
  const open = checkOpen(rules.subject, record, now.time);
  if (!open.ok) return open;
  if (type !== 'initiator' && !rules.isInitiated(record, now)) {
    return refuse('conflict', `${rules.subject} ${record.id} waits for the signature of its initiator first`);
  }
  return accept(null);
}

/** The vote of an eligible member. */
interface VoteRequest {
  readonly member: Pick<MemberSummary, 'id'>;
  readonly type: VoteType;
  /** Execute its decision too, if its threshold is met. */
  readonly execute?: boolean | undefined;
}

/**
 * Whether a vote of an eligible member can be recorded now. `repeated`: the member has already cast it, and it is
 * accepted only because its decision can be executed. Refuses with conflict or proposalExpired.
 */
export function checkVote<R extends ApprovalRecord, N extends ApprovalContext>(
  rules: ApprovalRules<R, N>,
  record: R,
  now: N,
  { member, type, execute }: VoteRequest,
): Result<'new' | 'repeated'> {
  const open = checkOpenToVotes(rules, record, now, type);
  if (!open.ok) return open;
  const isRepeated = countedVoters(rules, record, now, type).some(({ id }) => id === member.id);
  if (!isRepeated) return accept('new');
  if (execute === true && checkExecution(rules, record, now, decisionOfVote(type)).ok) {
    return accept('repeated');
  }
  const what = type === 'initiator' ? 'signed' : `signed to ${type}`;
  return refuse('conflict', `member ${member.id} has already ${what} ${rules.subject} ${record.id}`);
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

/** A failure as it is shown. */
interface ShownFailure extends Failure {
  /** The execution can be started again. */
  readonly retryable: boolean;
  /** The execution is started again without anybody's help. */
  readonly resumes: boolean;
}

/** The failure of a record, and what can follow it now. */
export function shownFailure<R extends ApprovalRecord, N extends ApprovalContext>(
  rules: ApprovalRules<R, N>,
  record: R,
  now: N,
): { readonly failure?: ShownFailure } {
  const { failure } = record;
  if (!failure) return {};
  const resumes =
    rules.awaitsResumption?.(record) === true && checkExecution(rules, record, now, 'approve').ok;
  return { failure: { ...failure, retryable: isOpen(rules, record, now.time), resumes } };
}

/** The part of a record that its workflow keeps: for its query, its timers and its description for operators. */
export interface ApprovalState {
  readonly id: string;
  readonly organizationId: string;
  readonly version: number;
  readonly summary: string;
  readonly signatureStatus: SignatureStatus;
  readonly executionStatus: ExecutionStatus | null;
  /** The decision whose execution was begun last. */
  readonly decision: Decision | null;
  readonly threshold: number;
  readonly approvals: readonly MemberSummary[];
  readonly rejections: readonly MemberSummary[];
  /** The decisions that can be executed now. */
  readonly ready: readonly Decision[];
  readonly createdAt: string;
  readonly expiresAt: string;
  /** It can still change. */
  readonly open: boolean;
  /** Its expiry is recorded; only a partly executed one may still be finished. */
  readonly expired: boolean;
  /** It needs no further action. */
  readonly closed: boolean;
  readonly failure: Failure | null;
  readonly notes: readonly Note[];
}

/** A workflow's history has a state for each message: long values are truncated. */
const STATE_SUMMARY_LENGTH = 2_000;
const STATE_NOTES = 20;

function stateSummary(text: string): string {
  const characters = [...text];
  return characters.length <= STATE_SUMMARY_LENGTH
    ? text
    : `${characters.slice(0, STATE_SUMMARY_LENGTH).join('')} …`;
}

/** The shared part of a record's state now: a long summary is truncated, and only the latest notes are kept. */
export function approvalState<R extends ApprovalRecord, N extends ApprovalContext>(
  rules: ApprovalRules<R, N>,
  record: R,
  now: N,
): ApprovalState {
  const { signatureStatus, threshold, approvals, rejections } = tally(rules, record, now);
  return {
    id: record.id,
    organizationId: record.organizationId,
    version: record.version,
    summary: stateSummary(record.summary),
    signatureStatus,
    executionStatus: record.executionStatus,
    decision: record.decision,
    threshold,
    approvals,
    rejections,
    ready: DECISIONS.filter((decision) => checkExecution(rules, record, now, decision).ok),
    createdAt: record.createdAt.toISOString(),
    expiresAt: record.expiresAt.toISOString(),
    open: isOpen(rules, record, now.time),
    expired: hasExpired(record),
    closed: record.closed,
    failure: record.failure,
    notes: record.notes.slice(-STATE_NOTES),
  };
}
