import type { AnySnapshot, ApprovalSubject } from '../../src/approvals/subject';
import type { Basis } from '../../src/db/approvalLocks';
import type { ApprovalChange } from '../../src/db/approvals';
import { type AuditInput, SYSTEM } from '../../src/db/audit';
import { releaseClaims } from '../../src/db/claims';
import type { Db, Tx } from '../../src/db/database';
import type { Statement } from '../../src/db/rows';
import type { Actor } from '../../src/domain/actor';
import { type ApprovalState, type Failure, type Note, tally } from '../../src/domain/approval';
import type { JsonValue } from '../../src/domain/canonicalJson';
import { credentialDetail } from '../../src/domain/credential';
import { failpoint } from '../../src/failpoints';
import type { MessageResult } from '../../src/temporal/messages';
import { approvalEntry } from './audit';
import { changeApproval } from './read';
import type { Beginning, ExecutableSubject, ExecutionRefusal, Seen } from './subject';

/** A change that is written with another one, in the same statement. */
export interface Recorded {
  readonly along: readonly Statement[];
  readonly entries: readonly AuditInput[];
}

/** Where a change is written: in a transaction that has locked the approval, or by itself upon what was read of it. */
export type Upon = (
  | { readonly db: Tx; readonly basis?: never }
  | { readonly db: Db; readonly basis: Basis }
) & {
  /** The vote that causes the change, to be recorded with it. */
  readonly vote?: Recorded | undefined;
};

/** Changes an approval with the audit entry of the change, and with what else is written with it. Returns its state then. */
export function changeUpon<V extends AnySnapshot, S extends ApprovalState>(
  { db, basis, vote }: Upon,
  subject: ApprovalSubject<V, S>,
  seen: V,
  change: ApprovalChange,
  entry: AuditInput,
  along: readonly Statement[],
): Promise<S> {
  const writing = { along: [...(vote?.along ?? []), ...along], basis };
  return changeApproval(db, subject, seen, change, [...(vote?.entries ?? []), entry], writing);
}

/** A failure as it is stored. */
export function failureAt(
  time: Date,
  attempt: number,
  { code, message, transactionHash }: ExecutionRefusal,
): Failure {
  return {
    code,
    message,
    at: time.toISOString(),
    attempt,
    ...(transactionHash === undefined ? {} : { transactionHash }),
  };
}

/** Parks an approval whose execution a check refused: nothing changed. */
export async function blockApproval<V extends AnySnapshot, S extends ApprovalState>(
  upon: Upon,
  subject: ExecutableSubject<V, S>,
  { seen, attempt, actor, message }: Beginning<V>,
  refused: ExecutionRefusal,
): Promise<MessageResult<S>> {
  const { record, now, credentialId } = seen;
  const change = {
    executionStatus: 'blocked' as const,
    executionAttempt: attempt,
    failure: failureAt(now.time, attempt, refused),
  };
  const entry = approvalEntry(subject, record, 'blocked', actor, {
    attempt,
    code: refused.code,
    message: refused.message,
    ...credentialDetail(credentialId),
  });
  const cleared = await subject.clear(upon.db, seen);
  return { ok: true, state: await changeUpon(upon, subject, cleared, change, entry, [message]) };
}

/** Closes an approval with its rejection: nothing changes. */
export async function rejectApproval<V extends AnySnapshot, S extends ApprovalState>(
  upon: Upon,
  subject: ExecutableSubject<V, S>,
  seen: Seen<V>,
  actor: Actor,
  along: readonly Statement[] = [],
): Promise<S> {
  const { record, now, credentialId } = seen;
  const counted = tally(subject.rules, record, now);
  const change = {
    executionStatus: 'rejected' as const,
    result: subject.rejectedResult,
    failure: null,
    waitingFor: null,
    closedWith: counted,
  };
  const cleared = await subject.clear(upon.db, seen);
  const entry = approvalEntry(subject, record, 'rejected', actor, {
    rejections: counted.rejections.map(({ id }) => id),
    ...credentialDetail(credentialId),
  });
  return changeUpon(upon, subject, cleared, change, entry, [releaseClaims(upon.db, record.id), ...along]);
}

/** How an execution ended without success. */
export interface UnsuccessfulEnd {
  readonly status: 'failed' | 'blocked';
  readonly failure: ExecutionRefusal;
  /** It can neither be retried nor rejected: what was signed for it is used up. */
  readonly final?: boolean;
}

/** Parks an approval whose execution ended without success: it can be retried or rejected; or closes it. */
export async function failApproval<V extends AnySnapshot, S extends ApprovalState>(
  tx: Tx,
  subject: ApprovalSubject<V, S>,
  seen: Seen<V>,
  end: UnsuccessfulEnd,
  along: readonly Statement[] = [],
): Promise<S> {
  const { record, now } = seen;
  const attempt = record.executionAttempt;
  const failure = failureAt(now.time, attempt, end.failure);
  const change = {
    executionStatus: end.status,
    failure,
    waitingFor: null,
    ...(end.final ? { closedWith: tally(subject.rules, record, now) } : {}),
  };
  const released = end.final ? [releaseClaims(tx, record.id)] : [];
  const verb = end.status === 'blocked' ? 'blocked' : 'executionFailed';
  const details = { attempt, failure: { ...failure }, retryable: !end.final };
  const entry = approvalEntry(subject, record, verb, SYSTEM, details);
  const state = await changeApproval(tx, subject, seen, change, [entry], { along: [...released, ...along] });
  failpoint('worker.executionFailed');
  return state;
}

/** Closes an approval whose execution is complete: a locked one, or one with what it was decided upon. */
export async function completeApproval<V extends AnySnapshot, S extends ApprovalState>(
  db: Db | Tx,
  subject: ApprovalSubject<V, S>,
  seen: Seen<V>,
  end: {
    readonly result?: object;
    readonly audit?: { readonly [key: string]: JsonValue };
    /** The service itself, where none is given. */
    readonly actor?: Actor;
    readonly note?: Omit<Note, 'at'>;
  } = {},
  { along = [], basis }: { readonly along?: readonly Statement[]; readonly basis?: Basis } = {},
): Promise<S> {
  const { record, now } = seen;
  const change = {
    executionStatus: 'completed' as const,
    failure: null,
    waitingFor: null,
    ...(end.result ? { result: end.result } : {}),
    ...(end.note ? { notes: [...record.notes, { at: now.time.toISOString(), ...end.note }] } : {}),
    closedWith: tally(subject.rules, record, now),
  };
  const details = { attempt: record.executionAttempt, ...end.audit };
  const entry = approvalEntry(subject, record, 'executed', end.actor ?? SYSTEM, details);
  const writing = { along: [releaseClaims(db, record.id), ...along], basis };
  const state = await changeApproval(db, subject, seen, change, [entry], writing);
  failpoint('worker.executionFinished');
  return state;
}
