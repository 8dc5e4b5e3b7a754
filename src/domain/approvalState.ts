import {
  type ApprovalContext,
  type ApprovalRecord,
  type ApprovalRules,
  checkExecution,
  countedVoters,
  type Decision,
  type ExecutionStatus,
  type Failure,
  hasExpired,
  isExpired,
  type MemberSummary,
  type Note,
  type SignatureStatus,
  type Tally,
} from './approval';

export const DECISIONS = ['approve', 'reject'] as const satisfies readonly Decision[];

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
