import type { JsonValue } from './canonicalJson';
import { accept, type Outcome, type Refusal, refuse } from './refusal';

export type ResourceType = 'members' | 'groups' | 'policies' | 'accounts' | 'admins';
export type ProposalAction = 'create' | 'update' | 'remove' | 'delete';
export type VoteType = 'approve' | 'reject';
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
  | 'funds'
  | 'policy'
  | 'budget'
  | 'stale'
  | 'timeout'
  | 'closedByOperator';

/** A member as others see it. `walletAddress` is checksummed (EIP-55). */
export interface MemberSummary {
  readonly id: string;
  readonly name: string;
  readonly type: 'user' | 'api';
  readonly walletAddress: string;
}

/** Those who decide organization operations, and how many of them it takes. */
export interface AdminSet {
  readonly threshold: number;
  readonly members: readonly MemberSummary[];
}

/** A recorded signature. It counts while its member is an admin with that wallet. */
export interface Vote {
  readonly memberId: string;
  readonly type: VoteType;
  readonly signerAddress: string;
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

/** What happened to a proposal from outside, in words. */
export interface Note {
  readonly at: string;
  readonly code: string;
  readonly message: string;
}

/** Where one account of a proposal stands on one network. */
export interface Deployment {
  readonly accountId: string;
  readonly networkId: number;
  readonly status: 'pending' | 'completed' | 'failed';
  readonly transactionHash: string | null;
  readonly failure: Failure | null;
  /** What a pending deployment waits for, in words. */
  readonly waitingFor: string | null;
}

/** One entry of `result.resources`. */
export interface ResultResource {
  readonly type: 'member' | 'group' | 'policy' | 'account' | 'admin';
  readonly id: string;
  readonly uri?: string;
}

/** How the votes stand. */
export interface Standing {
  readonly signatureStatus: SignatureStatus;
  readonly threshold: number;
  readonly approvals: readonly MemberSummary[];
  readonly rejections: readonly MemberSummary[];
}

/** A stored proposal, with everything its state depends on. */
export interface ProposalRecord {
  readonly id: string;
  readonly organizationId: string;
  readonly resourceType: ResourceType;
  readonly action: ProposalAction;
  readonly data: JsonValue;
  readonly summary: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly version: number;
  readonly executionStatus: ExecutionStatus | null;
  readonly executionAttempt: number;
  readonly applied: boolean;
  readonly effective: boolean;
  readonly failure: Failure | null;
  readonly notes: readonly Note[];
  readonly result: {
    readonly resolution: 'approved' | 'rejected';
    readonly resources: readonly ResultResource[];
  } | null;
  readonly closed: boolean;
  readonly frozen: Standing | null;
  readonly votes: readonly Vote[];
  readonly deployments: readonly Deployment[];
}

/** The world in which a record's state is computed: the admins of now and the database's time. */
export interface Now {
  readonly admins: AdminSet;
  readonly time: Date;
}

/** Throws at run time for a value that the types rule out. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${String(value)}`);
}

/** True from the first instant after the signed expiry: a proposal is valid while now <= expiresAt. */
export function isExpired(record: Pick<ProposalRecord, 'expiresAt'>, time: Date): boolean {
  return time.getTime() > record.expiresAt.getTime();
}

/** The admins of now whose vote of that type counts: still an admin, still with the wallet that signed. */
export function countedVoters(
  votes: readonly Vote[],
  type: VoteType,
  admins: AdminSet,
): readonly MemberSummary[] {
  return admins.members.filter((member) =>
    votes.some(
      (vote) =>
        vote.type === type &&
        vote.memberId === member.id &&
        vote.signerAddress.toLowerCase() === member.walletAddress.toLowerCase(),
    ),
  );
}

/** The status that so many approvals and rejections have against a threshold. */
export function reviewStatus(approvals: number, rejections: number, threshold: number): SignatureStatus {
  const approved = approvals >= threshold;
  const rejected = rejections >= threshold;
  if (approved && rejected) return 'approvalAndRejectionReady';
  if (approved) return 'approvalReady';
  if (rejected) return 'rejectionReady';
  return 'pendingReviewSignatures';
}

/**
 * How the votes of a record stand now: frozen values once nothing can change, else the votes of those who are
 * admins now against the threshold of now.
 */
export function standing(record: ProposalRecord, now: Now): Standing {
  if (record.frozen) return record.frozen;
  const approvals = countedVoters(record.votes, 'approve', now.admins);
  const rejections = countedVoters(record.votes, 'reject', now.admins);
  const expired = isExpired(record, now.time) && record.executionStatus !== 'processing';
  return {
    threshold: now.admins.threshold,
    approvals,
    rejections,
    signatureStatus: expired
      ? 'expired'
      : reviewStatus(approvals.length, rejections.length, now.admins.threshold),
  };
}

/** True when an account of the proposal is on at least one of its networks. */
export function partlyDeployed(record: Pick<ProposalRecord, 'deployments'>): boolean {
  return record.deployments.some((deployment) => deployment.status === 'completed');
}

/** True while the proposal may still be finished after its expiry: a deployment has begun to be there. */
export function canFinishAfterExpiry(record: ProposalRecord): boolean {
  return (
    record.applied &&
    partlyDeployed(record) &&
    (record.executionStatus === 'failed' || record.executionStatus === 'processing')
  );
}

/** True while the record can still change. */
export function isOpen(record: ProposalRecord, time: Date): boolean {
  if (record.closed) return false;
  return !isExpired(record, time) || record.executionStatus === 'processing' || canFinishAfterExpiry(record);
}

/** True while signatures can be collected; only then are signing payloads shown. */
export function collectsSignatures(record: ProposalRecord, time: Date): boolean {
  return !record.closed && record.executionStatus !== 'processing' && !isExpired(record, time);
}

function refuseSettled(record: ProposalRecord): Refusal | null {
  if (record.closed && record.failure?.code === 'closedByOperator') {
    return { code: 'conflict', message: `proposal ${record.id} has been closed by an operator` };
  }
  switch (record.executionStatus) {
    case 'processing':
      return { code: 'conflict', message: `proposal ${record.id} is being executed` };
    case 'completed':
      return { code: 'conflict', message: `proposal ${record.id} has been executed` };
    case 'rejected':
      return { code: 'conflict', message: `proposal ${record.id} has been rejected` };
    case 'failed':
    case 'blocked':
    case null:
      return null;
    default:
      return assertNever(record.executionStatus);
  }
}

function refuseExpired(record: ProposalRecord): Refusal {
  return {
    code: 'proposalExpired',
    message: `proposal ${record.id} expired at ${record.expiresAt.toISOString()}`,
  };
}

/** Whether a vote of a member can be recorded now. Refuses with conflict or proposalExpired. */
export function checkVote(
  record: ProposalRecord,
  now: Now,
  vote: { member: MemberSummary; type: VoteType },
): Outcome<null> {
  const settled = refuseSettled(record);
  if (settled) return { ok: false, refusal: settled };
  if (record.closed || isExpired(record, now.time)) return { ok: false, refusal: refuseExpired(record) };
  const signed = record.votes.some(
    (known) =>
      known.memberId === vote.member.id &&
      known.type === vote.type &&
      known.signerAddress.toLowerCase() === vote.member.walletAddress.toLowerCase(),
  );
  if (signed) {
    return refuse(
      'conflict',
      `member ${vote.member.id} has already signed to ${vote.type} proposal ${record.id}`,
    );
  }
  return accept(null);
}

/**
 * Whether an outcome can be executed now. Refuses with conflict (processing, executed, rejected, or something is
 * already done and it should be rejected), proposalExpired or thresholdNotMet.
 */
export function checkExecution(record: ProposalRecord, now: Now, type: VoteType): Outcome<null> {
  const settled = refuseSettled(record);
  if (settled) return { ok: false, refusal: settled };
  if (record.closed) return { ok: false, refusal: refuseExpired(record) };
  if (isExpired(record, now.time)) {
    const finishes = type === 'approve' && canFinishAfterExpiry(record);
    return finishes ? accept(null) : { ok: false, refusal: refuseExpired(record) };
  }
  const { approvals, rejections, threshold } = standing(record, now);
  const votes = type === 'approve' ? approvals.length : rejections.length;
  if (votes < threshold) {
    return refuse(
      'thresholdNotMet',
      `proposal ${record.id} has ${votes} of ${threshold} signatures needed to ${type} it`,
    );
  }
  if (type === 'reject' && (record.effective || partlyDeployed(record))) {
    return refuse('conflict', `proposal ${record.id} is already carried out in part and cannot be rejected`);
  }
  return accept(null);
}

/** What a workflow keeps of a proposal: enough for its query, its timer and the words an operator reads. */
export interface ProposalState {
  readonly proposalId: string;
  readonly organizationId: string;
  readonly resourceType: ResourceType;
  readonly action: ProposalAction;
  readonly version: number;
  readonly summary: string;
  readonly signatureStatus: SignatureStatus;
  readonly executionStatus: ExecutionStatus | null;
  readonly threshold: number;
  readonly approvals: readonly MemberSummary[];
  readonly rejections: readonly MemberSummary[];
  readonly expiresAt: string;
  /** It can still change. */
  readonly open: boolean;
  /** Its expiry is recorded; only a deployment may still be finished. */
  readonly expired: boolean;
  /** Nothing is left to do, for anybody. */
  readonly closed: boolean;
  readonly failure: Failure | null;
  readonly notes: readonly Note[];
  readonly deployments: readonly Deployment[];
}

/** A workflow's history holds a state for each message: what can be long is cut there. */
const STATE_SUMMARY_LENGTH = 2_000;
const STATE_NOTES = 20;

/** A summary as a state carries it: cut where it is long. */
export function stateSummary(text: string): string {
  const characters = [...text];
  return characters.length <= STATE_SUMMARY_LENGTH
    ? text
    : `${characters.slice(0, STATE_SUMMARY_LENGTH).join('')} …`;
}

/** Notes as a state carries them: of many, the latest. */
export function stateNotes(notes: readonly Note[]): readonly Note[] {
  return notes.slice(-STATE_NOTES);
}

/** The state of a record now: a long summary is cut, and of many notes the latest are there. */
export function proposalState(record: ProposalRecord, now: Now): ProposalState {
  const { signatureStatus, threshold, approvals, rejections } = standing(record, now);
  return {
    proposalId: record.id,
    organizationId: record.organizationId,
    resourceType: record.resourceType,
    action: record.action,
    version: record.version,
    summary: stateSummary(record.summary),
    signatureStatus,
    executionStatus: record.executionStatus,
    threshold,
    approvals,
    rejections,
    expiresAt: record.expiresAt.toISOString(),
    open: isOpen(record, now.time),
    expired: record.frozen?.signatureStatus === 'expired',
    closed: record.closed,
    failure: record.failure,
    notes: stateNotes(record.notes),
    deployments: record.deployments,
  };
}
