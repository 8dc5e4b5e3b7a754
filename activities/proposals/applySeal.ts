import { auditOfChanges, resourcesOf } from '../../src/approvals/changes';
import { projectUpTo } from '../../src/approvals/project';
import { listNotedSince } from '../../src/db/approvalNotes';
import { updateApproval } from '../../src/db/approvals';
import type { Tx } from '../../src/db/database';
import { findDecision, readProjected } from '../../src/db/decisions';
import { insertDeployments, markApplied, type ProposalSnapshot } from '../../src/db/proposals';
import { type Actor, SYSTEM } from '../../src/domain/actor';
import type { ApprovalKey } from '../../src/domain/approvalRef';
import type { ProposalState } from '../../src/domain/proposal';
import type { DecisionSeal } from '../../src/domain/seal';
import { failpoint } from '../../src/failpoints';
import { mapLimit } from '../../src/mapLimit';
import { operationKindOf } from '../../src/operations';
import type { SealResult } from '../../src/signer/seal';
import type { ApprovalDeps, Seen } from '../approvals/executableSubject';
import { completeApproval, failApproval, rejectApproval } from '../approvals/finish';
import { lockOrRefuse, readApprovalState } from '../approvals/read';
import { executableProposal as subject } from './executableProposal';

const REFRESHED_AT_ONCE = 20;

/** What a sealed approval means for its proposal: it is complete, or its deployments begin. */
async function finishApproved(
  tx: Tx,
  seal: DecisionSeal,
  seen: Seen<ProposalSnapshot>,
  actor: Actor,
): Promise<ProposalState> {
  const { record } = seen;
  const { deployments } = operationKindOf(seal.resourceType, seal.action);
  const targets = deployments?.of(seal.data) ?? [];
  const result = { resolution: 'approved', resources: resourcesOf(seal.resourceType, seal.changes) };
  const effective = auditOfChanges(record.id, seal.changes).length > 0;
  const mark = markApplied(tx, record.id, effective);
  if (targets.length === 0) {
    const approvals = record.executedWith?.approvals.map(({ id }) => id) ?? [];
    const end = { result, actor, audit: { approvals, sequence: seal.sequence } };
    const appliedNow = { ...seen, record: { ...record, applied: true, effective } };
    return completeApproval(tx, subject, appliedNow, end, { batch: [mark] });
  }
  await insertDeployments(tx, record.id, targets);
  await updateApproval(tx, record.id, { result, waitingFor: null }, [mark]);
  return readApprovalState(tx, subject, record);
}

/**
 * Carries out what the signer has sealed about a proposal, in one database transaction, or ends its execution where the
 * signer has refused. The tables are asked, not the caller: without a seal nothing is carried out. Idempotent.
 */
export async function applySeal(
  { db }: Pick<ApprovalDeps, 'db'>,
  { organizationId, id, result }: ApprovalKey & { readonly result: SealResult },
): Promise<{ readonly state: ProposalState; readonly noted: boolean }> {
  return db.transaction(async (tx) => {
    const seen = await lockOrRefuse(tx, subject, { organizationId, id }, { exclusive: true });
    const { record } = seen;
    if (record.executionStatus !== 'processing' || record.applied) {
      return { state: subject.state(seen), noted: record.applied };
    }
    const projected = await readProjected(tx, organizationId);
    const pending = projected.pending.find(({ proposalId }) => proposalId === id);
    const seal = pending ?? (await findDecision(tx, id));
    if (!seal) {
      if (!('refused' in result)) return { state: subject.state(seen), noted: false };
      const failure = result.refused;
      return { state: await failApproval(tx, subject, seen, { status: 'blocked', failure }), noted: false };
    }
    const actor = record.decidedBy ?? SYSTEM;
    const noted = await projectUpTo(tx, projected, seal, actor);
    failpoint('worker.sealProjected');
    const rejected = seal.resolution === 'rejected';
    const state = rejected
      ? await rejectApproval({ db: tx }, subject, seen, actor)
      : await finishApproved(tx, seal, seen, actor);
    return { state, noted };
  });
}

/** Notifies the workflows of the approvals that received notes about a proposal's execution. Returns how many. */
export async function refreshNoted(
  { db, refresh }: Pick<ApprovalDeps, 'db' | 'refresh'>,
  { organizationId, id }: ApprovalKey,
): Promise<number> {
  const noted = await listNotedSince(db, { organizationId, proposalId: id });
  await mapLimit(REFRESHED_AT_ONCE, noted, refresh);
  return noted.length;
}
