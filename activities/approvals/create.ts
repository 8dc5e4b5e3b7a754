import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AnySnapshot } from '../../src/approvals/approvalSubject';
import {
  type CreationRequest,
  insertApproval,
  readCreationRequest,
  storeApproval,
} from '../../src/db/approvals';
import { appendedPosition, auditStatements } from '../../src/db/audit';
import type { TakenClaim } from '../../src/db/claims';
import { notAdmitted } from '../../src/domain/admission';
import { type ApprovalRecord, expiryOf } from '../../src/domain/approval';
import type { ApprovalKey } from '../../src/domain/approvalRef';
import type { ApprovalState } from '../../src/domain/approvalState';
import { credentialDetail, isApiKeyId, requestNotStored } from '../../src/domain/credential';
import { refuse } from '../../src/domain/refusal';
import { failpoint } from '../../src/failpoints';
import type { MessageResult } from '../../src/temporal/messages';
import { retryOnConflict } from '../retryOnConflict';
import { credentialActor } from './approvalEntry';
import { assertAuthority } from './authority';
import type { ApprovalDeps, CreatableSubject, CreateInput, PlannedApproval } from './executableSubject';
import { expireApproval } from './expire';
import { readApprovalState } from './read';
import { catchRefusal, Rollback } from './refusals';

function tooManyOpen(createdBy: string, maxOpenPerKey: number): Rollback {
  const what = isApiKeyId(createdBy) ? 'API key' : 'member';
  return new Rollback({
    code: 'conflict',
    message: `this ${what} has ${maxOpenPerKey} open proposals and transactions, the maximum per ${what}`,
  });
}

type Requested = NonNullable<CreationRequest['request']>;

/** Stores the approval with its audit entry, unless what it was planned from has changed. Returns its state, or what is in its way. */
async function store<V extends AnySnapshot, S extends ApprovalState, I extends CreateInput>(
  { db, proposalLifetimeMs, maxOpenPerKey }: ApprovalDeps,
  subject: CreatableSubject<V, S, I>,
  input: I,
  planned: PlannedApproval<S>,
  { request, time, sequence }: { request: Requested } & Pick<CreationRequest, 'time' | 'sequence'>,
): Promise<MessageResult<S> | TakenClaim | undefined> {
  const { organizationId, id } = input;
  const { credentialId, createdBy, actingMember } = request;
  const { summary, mentions, claims } = planned;
  const notes = (planned.notes ?? []).map((note) => ({ at: time.toISOString(), ...note }));
  const noun = subject.rules.subject;
  const expiresAt = expiryOf(time, proposalLifetimeMs);
  const approval = insertApproval(db, noun, {
    id,
    organizationId,
    summary,
    mentions,
    notes,
    createdAt: time,
    expiresAt,
    createdBy,
    requestedWith: request,
    position: appendedPosition(db),
  });
  const entry = {
    action: `${noun}.created` as const,
    actor: credentialActor(credentialId, actingMember),
    resourceType: noun,
    resourceId: id,
    details: {
      summary,
      ...planned.audit,
      expiresAt: expiresAt.toISOString(),
      ...credentialDetail(credentialId),
    },
  };
  const batch = [...auditStatements(db, organizationId, [entry]), approval, planned.insert];
  const limits = { credentialId, createdBy, maxOpen: maxOpenPerKey };
  const stored = await storeApproval(db, { id, organizationId, claims, sequence, ...limits }, batch);
  if (stored === 'tooManyOpen') throw tooManyOpen(createdBy, maxOpenPerKey);
  if (stored !== 'stored') return stored;
  failpoint('worker.approvalStored');
  const created = newApprovalRecord({ id, organizationId, summary, createdAt: time, expiresAt, notes });
  const state = planned.initialState(created, { sequence, time });
  return { ok: true, state: state ?? (await readApprovalState(db, subject, input)) };
}

/**
 * One attempt to create an approval. Returns the conflicting claim, if there is one; or undefined, where what it was planned
 * from has changed.
 */
async function tryToCreate<V extends AnySnapshot, S extends ApprovalState, I extends CreateInput>(
  deps: ApprovalDeps,
  subject: CreatableSubject<V, S, I>,
  input: I,
): Promise<MessageResult<S> | TakenClaim | undefined> {
  const { created, request, open, admitted, ...read } = await readCreationRequest(deps.db, input);
  if (!created) {
    if (!request || !subject.isRequestedBy(input, request)) {
      throw new Rollback(requestNotStored());
    }
    assertAuthority(subject, request);
    if (!admitted) throw new Rollback(notAdmitted(input.organizationId).refusal);
    // Before chains are read for it; what counts is the count when it is stored.
    if (open >= deps.maxOpenPerKey) throw tooManyOpen(request.createdBy, deps.maxOpenPerKey);
    const planned = await subject.plan(deps, input, request.body);
    if (!planned.ok) throw new Rollback(planned.refusal);
    // To plan the largest request takes 10 ms, and to store it nearly as long: others have their turn between.
    await nextTurn();
    return store(deps, subject, input, planned.value, { request, ...read });
  }
  return { ok: true, state: await readApprovalState(deps.db, subject, input) };
}

/** True when the holder of a claim remains open. Records its expiry if its workflow has not yet. */
async function remainsOpen<V extends AnySnapshot, S extends ApprovalState, I extends CreateInput>(
  deps: ApprovalDeps,
  subject: CreatableSubject<V, S, I>,
  holder: ApprovalKey,
): Promise<boolean> {
  if (!(await subject.read(deps.db, holder))) return false;
  const { closed, signatureStatus } = await expireApproval(deps, subject, holder);
  return !closed && signatureStatus !== 'expired';
}

/** The shared part of a new record: no votes, no execution. */
function newApprovalRecord(
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

/**
 * Creates an approval from its stored request, or finds it when it exists; without a request it can only be found. A
 * refusal changes nothing.
 */
export async function createApproval<V extends AnySnapshot, S extends ApprovalState, I extends CreateInput>(
  deps: ApprovalDeps,
  subject: CreatableSubject<V, S, I>,
  input: I,
): Promise<MessageResult<S>> {
  return catchRefusal(() =>
    retryOnConflict(async (): Promise<MessageResult<S> | undefined> => {
      const result = await tryToCreate(deps, subject, input);
      if (!result || 'ok' in result) return result;
      const { holder: heldBy } = result;
      // Another attempt of the same creation has just stored it.
      if (heldBy === input.id) return undefined;
      const { organizationId } = input;
      if (!(await remainsOpen(deps, subject, { organizationId, id: heldBy }))) return undefined;
      return refuse('conflict', subject.takenText(result));
    }),
  );
}
