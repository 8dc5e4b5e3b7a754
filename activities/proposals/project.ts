import { deriveAccount } from '../../src/chain/safeAccount';
import { noteOnOpenApprovals } from '../../src/db/approvalNotes';
import { updateApproval } from '../../src/db/approvals';
import { type AuditInput, appendAudit, SYSTEM } from '../../src/db/audit';
import type { Tx } from '../../src/db/database';
import { readAdmins } from '../../src/db/members';
import type { Difference } from '../../src/db/organizationTables';
import { setPositions } from '../../src/db/positions';
import { restoreDiffering, writeChanges } from '../../src/db/projection';
import { insertDeployments, markApplied, type ProposalSnapshot } from '../../src/db/proposals';
import {
  decisionIn,
  findSeal,
  listSeals,
  readProjectedSequence,
  readState,
  storeProjectedSequence,
} from '../../src/db/seals';
import type { Actor } from '../../src/domain/actor';
import type { ApprovalKey } from '../../src/domain/approvalRef';
import type { JsonValue } from '../../src/domain/canonicalJson';
import type { OrganizationState } from '../../src/domain/governance';
import { adminChanges } from '../../src/domain/outsideEvents';
import type { ProposalState } from '../../src/domain/proposal';
import type { DecisionSeal } from '../../src/domain/seal';
import { failpoint } from '../../src/failpoints';
import { kindOf } from '../../src/operations';
import { completeApproval, failApproval, rejectApproval } from '../approvals/finish';
import { lockOrRefuse, readState as readApprovalState } from '../approvals/read';
import type { ApprovalDeps, Seen } from '../approvals/subject';
import { auditOfChanges, eventsOfChanges, resourcesOf } from './changes';
import type { SealResult } from './seal';
import { executableProposal as subject } from './subject';

/** The audit entry of a row that was not what had been decided, and was overwritten. */
function differenceEntry({ type, id, sealed, found }: Difference): AuditInput {
  const details = { sealed: sealed as JsonValue, found: found as JsonValue };
  return { action: `${type}.differed`, actor: SYSTEM, resourceType: type, resourceId: id, details };
}

const POSITIONED = { member: 'members', group: 'groups', policy: 'policies' } as const;

/** Writes one decision into the tables, with its audit entries. Returns how many notes on other open approvals it wrote. */
async function project(tx: Tx, seal: DecisionSeal, state: OrganizationState, actor: Actor): Promise<number> {
  const { organizationId, proposalId, changes, sequence } = seal;
  const before = await readAdmins(tx, organizationId);
  const differing = await restoreDiffering(tx, state, changes);
  await writeChanges(tx, organizationId, changes, (accountId) => deriveAccount(state.signingKey, accountId));
  const noted = await noteOnOpenApprovals(tx, organizationId, proposalId, [
    ...adminChanges(before, await readAdmins(tx, organizationId)),
    ...eventsOfChanges(changes),
  ]);
  const audited = auditOfChanges(proposalId, changes);
  const positions = await appendAudit(tx, organizationId, [
    ...audited.map(({ entry }) => ({ ...entry, actor })),
    ...differing.map(differenceEntry),
  ]);
  for (const [type, table] of Object.entries(POSITIONED)) {
    const created = audited.flatMap(({ change }, i) =>
      change.type === type && change.before === null ? [{ id: change.id, position: positions[i] ?? 0n }] : [],
    );
    if (created.length === 0) continue;
    await setPositions(
      tx,
      table,
      created.map(({ id }) => id),
      created.map(({ position }) => position),
    );
  }
  await storeProjectedSequence(tx, organizationId, sequence);
  return noted;
}

/**
 * Writes every sealed decision up to this one that the tables do not show yet, in their order. True when other approvals
 * may have received notes.
 */
async function projectUpTo(tx: Tx, upTo: DecisionSeal, actor: Actor): Promise<boolean> {
  const { organizationId } = upTo;
  const after = await readProjectedSequence(tx, organizationId);
  if (after >= upTo.sequence) return true;
  const state = await readState(tx, organizationId);
  if (!state) throw new Error(`organization ${organizationId} has a seal and no state`);
  let noted = 0;
  for (const stored of await listSeals(tx, organizationId, { after, upTo: upTo.sequence })) {
    const seal = decisionIn(stored);
    noted += await project(tx, seal, state, seal.proposalId === upTo.proposalId ? actor : SYSTEM);
  }
  return noted > 0;
}

/** What a sealed approval means for its proposal: it is complete, or its deployments begin. */
async function finishApproved(
  tx: Tx,
  seal: DecisionSeal,
  seen: Seen<ProposalSnapshot>,
  actor: Actor,
): Promise<ProposalState> {
  const { record } = seen;
  const { deployments } = kindOf(seal.resourceType, seal.action);
  const targets = deployments?.of(seal.data) ?? [];
  const result = { resolution: 'approved', resources: resourcesOf(seal.resourceType, seal.changes) };
  await markApplied(tx, record.id, auditOfChanges(record.id, seal.changes).length > 0);
  if (targets.length === 0) {
    const approvals = record.executedWith?.approvals.map(({ id }) => id) ?? [];
    return completeApproval(tx, subject, seen, {
      result,
      actor,
      audit: { approvals, sequence: seal.sequence },
    });
  }
  await insertDeployments(tx, record.id, targets);
  await updateApproval(tx, record.id, { result, waitingFor: null });
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
    const stored = await findSeal(tx, id);
    if (!stored) {
      if (!('refused' in result)) return { state: subject.state(seen), noted: false };
      const failure = result.refused;
      return { state: await failApproval(tx, subject, seen, { status: 'blocked', failure }), noted: false };
    }
    const seal = decisionIn(stored);
    const actor = record.decidedBy ?? SYSTEM;
    const noted = await projectUpTo(tx, seal, actor);
    failpoint('worker.sealProjected');
    const rejected = seal.resolution === 'rejected';
    const state = rejected
      ? await rejectApproval(tx, subject, seen, actor)
      : await finishApproved(tx, seal, seen, actor);
    return { state, noted };
  });
}
