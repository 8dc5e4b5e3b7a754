import type { AnySnapshot, ApprovalSubject } from '../../src/approvals/approvalSubject';
import type { ExpectedVersion } from '../../src/db/approvalLocks';
import { releaseClaims } from '../../src/db/claims';
import type { Db, Tx } from '../../src/db/database';
import type { Statement } from '../../src/db/rows';
import { type Actor, SYSTEM } from '../../src/domain/actor';
import type { Failure, Note } from '../../src/domain/approval';
import { type ApprovalState, tally } from '../../src/domain/approvalState';
import type { JsonValue } from '../../src/domain/canonicalJson';
import { credentialDetail } from '../../src/domain/credential';
import { failpoint } from '../../src/failpoints';
import type { MessageResult } from '../../src/temporal/messages';
import { approvalEntry } from './approvalEntry';
import type { Beginning, ExecutableSubject, ExecutionRefusal, Seen, WriteTarget } from './executableSubject';
import { changeApproval } from './read';

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
  { db, expected }: WriteTarget,
  subject: ExecutableSubject<V, S>,
  { seen, attempt, actor, batch, entries, notes }: Beginning<V>,
  refused: ExecutionRefusal,
): Promise<MessageResult<S>> {
  const { record, now, credentialId } = seen;
  const change = {
    executionStatus: 'blocked' as const,
    executionAttempt: attempt,
    failure: failureAt(now.time, attempt, refused),
    ...(notes ? { notes } : {}),
  };
  const entry = approvalEntry(subject, record, 'blocked', actor, {
    attempt,
    code: refused.code,
    message: refused.message,
    ...credentialDetail(credentialId),
  });
  const cleared = await subject.clear(db, seen);
  const writing = { batch, expected };
  return {
    ok: true,
    state: await changeApproval(db, subject, cleared, change, [...entries, entry], writing),
  };
}

/** Closes an approval with its rejection: nothing changes. */
export async function rejectApproval<V extends AnySnapshot, S extends ApprovalState>(
  { db, expected }: WriteTarget,
  subject: ExecutableSubject<V, S>,
  seen: Seen<V>,
  actor: Actor,
  batch: readonly Statement[] = [],
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
  const cleared = await subject.clear(db, seen);
  const entry = approvalEntry(subject, record, 'rejected', actor, {
    rejections: counted.rejections.map(({ id }) => id),
    ...credentialDetail(credentialId),
  });
  const writing = { batch: [releaseClaims(db, record.id), ...batch], expected };
  return changeApproval(db, subject, cleared, change, [entry], writing);
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
  batch: readonly Statement[] = [],
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
  const state = await changeApproval(tx, subject, seen, change, [entry], { batch: [...released, ...batch] });
  failpoint('worker.executionFailed');
  return state;
}

/** Closes an approval whose execution is complete: a locked one, or one with what the decision was based on. */
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
  {
    batch = [],
    expected,
  }: { readonly batch?: readonly Statement[]; readonly expected?: ExpectedVersion } = {},
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
  const writing = { batch: [releaseClaims(db, record.id), ...batch], expected };
  const state = await changeApproval(db, subject, seen, change, [entry], writing);
  failpoint('worker.executionFinished');
  return state;
}
