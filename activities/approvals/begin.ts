import type { AnySnapshot } from '../../src/approvals/approvalSubject';
import { verifyDecision, withVotes } from '../../src/approvals/verifiedVotes';
import { voteKey } from '../../src/approvals/voters';
import { EndpointsMissing } from '../../src/chain/signatures';
import { type ExpectedVersion, lockExpected, undefinedOnConflict } from '../../src/db/approvalLocks';
import { updateApproval } from '../../src/db/approvals';
import { type AuditInput, appendAudit } from '../../src/db/audit';
import type { Db, Tx } from '../../src/db/database';
import { insertEvidence } from '../../src/db/evidence';
import { isWithoutRoom } from '../../src/db/policyRoom';
import { insertMessage, isMessageTaken } from '../../src/db/receivedMessages';
import type { Statement } from '../../src/db/rows';
import type { StoredVote } from '../../src/db/storedApprovals';
import {
  checkExecution,
  countedVotes,
  type Decision,
  type Note,
  newestVotes,
  type VoteType,
} from '../../src/domain/approval';
import { type ApprovalState, tally } from '../../src/domain/approvalState';
import { credentialDetail } from '../../src/domain/credential';
import { quoted } from '../../src/domain/quoted';
import { failpoint } from '../../src/failpoints';
import type { MessageResult } from '../../src/temporal/messages';
import { retryOnConflict } from '../retryOnConflict';
import { approvalEntry, messageActor } from './approvalEntry';
import { assertAuthority } from './authority';
import type {
  ApprovalDeps,
  Beginning,
  ExecutableSubject,
  MessageInput,
  Seen,
  WriteTarget,
} from './executableSubject';
import { blockApproval, rejectApproval } from './finish';
import { approvalNotFound, changeApproval, readApprovalState } from './read';
import { catchRefusal, Rollback } from './refusals';

/** The request to execute a decision, from the workflow. */
export type BeginInput = MessageInput & {
  readonly type: Decision;
  /** Absent: the member of the request's API key. */
  readonly actor?: 'operator' | 'system';
};

/** A verified vote that is not stored yet. */
interface VoteToStore {
  readonly batch: readonly Statement[];
  readonly entry: AuditInput;
  /** The notes of the approval then, where the vote changes them. */
  readonly notes?: readonly Note[] | undefined;
}

/** The context of a beginning. */
interface Context<V extends AnySnapshot, S extends ApprovalState> {
  readonly deps: ApprovalDeps;
  readonly subject: ExecutableSubject<V, S>;
  readonly input: BeginInput;
  /** The vote that asks for the execution, to be stored with its beginning. */
  readonly vote?: VoteToStore;
}

/** The votes that prove a decision and count now. */
function provingVotes<V extends AnySnapshot, S extends ApprovalState>(
  { subject, input }: Context<V, S>,
  { record, now }: V,
): StoredVote[] {
  const types: readonly VoteType[] = [...subject.provedBy, input.type];
  return types.flatMap((type) => countedVotes(subject.rules, record, now, type) as StoredVote[]);
}

/** Whose wallet does not accept a signature that counts any more, and what to do. */
function refusedText<V extends AnySnapshot, S extends ApprovalState>(
  context: Context<V, S>,
  seen: Seen<V>,
  valid: ReadonlySet<string>,
): string {
  const { subject } = context;
  const refused = newestVotes(provingVotes(context, seen)).filter((vote) => !valid.has(voteKey(vote)));
  // What is bound to an invalid signature of the initiator is not verified.
  const initiating = refused.filter(({ type }) => type === 'initiator');
  const voters = (initiating.length > 0 ? initiating : refused).map(({ memberId }) => memberId);
  const members = subject.rules.people(seen.now).filter(({ id }) => voters.includes(id));
  const named = members.map((member) => `${quoted(member.name)} (${member.id})`).join(', ');
  return `a counted signature is invalid now, because its wallet does not accept it: ${named} can sign again`;
}

/** Refuses the request itself: nothing changes, and the approval does not become blocked. */
function checkRequest<V extends AnySnapshot, S extends ApprovalState>(
  { subject, input }: Context<V, S>,
  { record, now }: Seen<V>,
): void {
  const allowed = checkExecution(subject.rules, record, now, input.type);
  if (!allowed.ok) throw new Rollback(allowed.refusal);
  if (input.actor === 'operator' && record.failure === null) {
    throw new Rollback({
      code: 'conflict',
      message: `no execution of ${subject.rules.subject} ${record.id} has failed: there is nothing to retry`,
    });
  }
}

/** The proof of the decision, to be stored: the payload, its votes, and who was eligible. */
function evidenceOf<V extends AnySnapshot, S extends ApprovalState>(
  db: Db | Tx,
  context: Context<V, S>,
  seen: Seen<V>,
  votes: readonly StoredVote[],
): Statement {
  const { subject, input } = context;
  const { threshold } = tally(subject.rules, seen.record, seen.now);
  // Where no approval is needed, the initiator's signature approves it.
  const proof = input.type === 'approve' && threshold === 0 ? 'initiator' : input.type;
  return insertEvidence(db, input, {
    resolution: input.type === 'approve' ? 'approved' : 'rejected',
    payload: subject.payload(seen, proof) ?? '',
    votes,
    threshold: input.type === 'approve' ? threshold : Math.max(1, threshold),
    electorate: subject.electorate(seen.now),
  });
}

/** Continues an execution whose decision is sealed. */
async function resume<V extends AnySnapshot, S extends ApprovalState>(
  tx: Tx,
  { subject, input }: Context<V, S>,
  seen: Seen<V>,
): Promise<MessageResult<S>> {
  const { record, now, credentialId } = seen;
  const attempt = record.executionAttempt + 1;
  const actor = messageActor(input.actor, seen);
  const message = insertMessage(tx, input.id, input.messageId, 'execute');
  await subject.resume(tx, record);
  const change = {
    executionStatus: 'processing' as const,
    executionAttempt: attempt,
    started: { decision: input.type, by: actor, with: tally(subject.rules, record, now) },
    failure: null,
  };
  await updateApproval(tx, input.id, change, [message]);
  const state = await readApprovalState(tx, subject, input);
  await appendAudit(tx, input.organizationId, [
    approvalEntry(subject, record, 'executionRetried', actor, { attempt, ...credentialDetail(credentialId) }),
  ]);
  return { ok: true, state };
}

/** Begins the execution: the approval becomes `processing`, or `blocked` where a check refuses it. */
async function start<V extends AnySnapshot, S extends ApprovalState>(
  target: WriteTarget,
  context: Context<V, S>,
  beginning: Beginning<V>,
  votes: readonly StoredVote[],
): Promise<MessageResult<S>> {
  const { deps, subject, input } = context;
  const { db, expected } = target;
  const { seen, attempt, actor } = beginning;
  const { record, now, credentialId } = seen;
  const reserved = input.type === 'approve' ? await subject.reserve?.(deps, target, beginning) : undefined;
  if (reserved && 'refused' in reserved) return blockApproval(target, subject, beginning, reserved.refused);
  const counted = tally(subject.rules, record, now);
  const change = {
    executionStatus: 'processing' as const,
    executionAttempt: attempt,
    started: { decision: input.type, by: actor, with: counted },
    failure: null,
    waitingFor: null,
    ...(beginning.notes ? { notes: beginning.notes } : {}),
  };
  const batch = [
    ...beginning.batch,
    evidenceOf(db, context, withVotes(seen, votes), votes),
    ...(reserved?.batch ?? []),
  ];
  const voters = input.type === 'approve' ? counted.approvals : counted.rejections;
  const entry = approvalEntry(subject, record, 'executionStarted', actor, {
    attempt,
    decision: input.type,
    [input.type === 'approve' ? 'approvals' : 'rejections']: voters.map(({ id }) => id),
    threshold: counted.threshold,
    ...credentialDetail(credentialId),
  });
  const cleared = await subject.clear(db, seen);
  const entries = [...beginning.entries, entry];
  const state = await changeApproval(db, subject, cleared, change, entries, { batch, expected });
  failpoint('worker.executionStarted');
  return { ok: true, state };
}

/** Begins from what was read, its votes verified; nothing is written where that has changed. */
async function begin<V extends AnySnapshot, S extends ApprovalState>(
  target: WriteTarget,
  context: Context<V, S>,
  seen: Seen<V>,
  valid: ReadonlySet<string>,
): Promise<MessageResult<S>> {
  const { subject, input, vote } = context;
  const { record, now } = seen;
  const actor = messageActor(input.actor, seen);
  const message = insertMessage(target.db, input.id, input.messageId, 'execute');
  const beginning: Beginning<V> = {
    seen,
    attempt: record.executionAttempt + 1,
    actor,
    batch: [...(vote?.batch ?? []), message],
    entries: vote ? [vote.entry] : [],
    notes: vote?.notes,
  };
  const verified = withVotes(seen, record.votes.filter((one) => valid.has(voteKey(one))) as StoredVote[]);
  const votes = provingVotes(context, verified);
  if (!checkExecution(subject.rules, verified.record, now, input.type).ok) {
    const message = refusedText(context, seen, valid);
    return blockApproval(target, subject, beginning, { code: 'stale', message });
  }
  if (input.type === 'approve' || subject.isRejectionSealed(record)) {
    return start(target, context, beginning, votes);
  }
  const batch = [message, evidenceOf(target.db, context, verified, votes)];
  return { ok: true, state: await rejectApproval(target, subject, seen, actor, batch) };
}

/** The keys of the votes whose signatures verify. Refuses the request when nothing can verify those of contract wallets. */
async function validVotes<V extends AnySnapshot, S extends ApprovalState>(
  { deps: { identifyVoter }, subject, input }: Context<V, S>,
  seen: V,
): Promise<ReadonlySet<string>> {
  try {
    return new Set((await verifyDecision(identifyVoter, subject, seen, input.type)).map(voteKey));
  } catch (error) {
    if (error instanceof EndpointsMissing) throw new Rollback({ code: 'conflict', message: error.message });
    throw error;
  }
}

/**
 * Runs `work` in a transaction that has locked what was read, and the budget of `policyId`; undefined where that was changed
 * since.
 */
function inLocked<T>(
  db: Db,
  { expected, policyId }: { readonly expected: ExpectedVersion; readonly policyId?: string | undefined },
  work: (tx: Tx) => Promise<T>,
): Promise<T | undefined> {
  return db.transaction(async (tx) => ((await lockExpected(tx, expected, policyId)) ? work(tx) : undefined));
}

/**
 * Writes the beginning; undefined where the approval, or what the admins have decided, has changed since it was read. It is
 * one statement, unless something has to be read with the record locked: what is left of a budget, once it has no room.
 */
async function tryToBegin<V extends AnySnapshot, S extends ApprovalState>(
  context: Context<V, S>,
  seen: Seen<V>,
  valid: ReadonlySet<string>,
): Promise<MessageResult<S> | undefined> {
  const { deps, subject, input } = context;
  const { db } = deps;
  const atOnce = (expected: ExpectedVersion) =>
    undefinedOnConflict(() => begin({ db, expected }, context, seen, valid));
  if (!subject.reserve) return atOnce(seen);
  const locked = (policyId?: string) =>
    inLocked(db, { expected: seen, policyId }, (tx) => begin({ db: tx }, context, seen, valid));
  const budget = input.type === 'approve' ? subject.budget?.(seen) : undefined;
  if (budget?.room === undefined) return locked(budget?.policyId);
  try {
    return await atOnce(budget.room ? { ...seen, budget: budget.room } : seen);
  } catch (error) {
    if (isWithoutRoom(error)) return locked(budget.policyId);
    throw error;
  }
}

/**
 * Begins the execution of a decision whose threshold is met, all or nothing. Before it, every vote is verified again. The
 * approval becomes `processing`; a refused check makes it `blocked`. Idempotent by the message.
 */
export async function beginExecution<V extends AnySnapshot, S extends ApprovalState>(
  deps: ApprovalDeps,
  subject: ExecutableSubject<V, S>,
  input: BeginInput,
): Promise<MessageResult<S>> {
  const context = { deps, subject, input };
  return catchRefusal(() =>
    retryOnConflict(async (): Promise<MessageResult<S> | undefined> => {
      const seen = await subject.read(deps.db, input);
      if (!seen) return { ok: false, refusal: approvalNotFound(subject.rules.subject, input.id) };
      const isPointless = input.actor === 'system' && subject.isOutdated(seen.record);
      if (seen.messageTaken || isPointless) return { ok: true, state: subject.state(seen) };
      assertAuthority(subject, seen);
      checkRequest(context, seen);
      if (input.type === 'approve' && subject.isResumed(seen.record)) {
        return inLocked(deps.db, { expected: seen }, (tx) => resume(tx, context, seen));
      }
      return tryToBegin(context, seen, await validVotes(context, seen));
    }),
  );
}

/**
 * Begins the execution that a vote asks for, and stores both in one database transaction. `voted`: what was read, with the
 * vote added. Returns `notStarted`, and writes nothing, where the execution cannot begin with the vote: the threshold is not
 * met, it is resumed, other votes cannot be verified now, or its message was taken before. Undefined where what was read has
 * changed.
 */
export async function beginWithVote<V extends AnySnapshot, S extends ApprovalState>(
  // A rejection would close the approval without its vote.
  context: Context<V, S> & { readonly input: { readonly type: 'approve' }; readonly vote: VoteToStore },
  voted: Seen<V>,
): Promise<MessageResult<S> | 'notStarted' | undefined> {
  const { subject, input } = context;
  const { record, now } = voted;
  const canBegin = !subject.isResumed(record) && checkExecution(subject.rules, record, now, input.type).ok;
  if (!canBegin) return 'notStarted';
  let valid: ReadonlySet<string>;
  try {
    valid = await validVotes(context, voted);
  } catch {
    // Whatever keeps the other votes from being verified: this one is stored all the same.
    return 'notStarted';
  }
  try {
    return await tryToBegin(context, voted, valid);
  } catch (error) {
    if (isMessageTaken(error)) return 'notStarted';
    throw error;
  }
}
