import { proposalSubject } from '../../src/approvals/proposals';
import { noteOnOpenApprovals } from '../../src/db/approvalNotes';
import type { Tx } from '../../src/db/database';
import { findMembers, readAdmins } from '../../src/db/members';
import {
  insertDeployments,
  insertProposal,
  markApplied,
  type ProposalSnapshot,
  type StoredProposal,
  updateDeployment,
} from '../../src/db/proposals';
import { rollbackTo, savepoint } from '../../src/db/savepoint';
import { adminChanges } from '../../src/domain/outsideEvents';
import type { ProposalAction, ProposalState, ResourceType } from '../../src/domain/proposal';
import { accept } from '../../src/domain/refusal';
import { findKind, kindOf, proposes } from '../../src/operations';
import type { Applied, KindContext, Outside } from '../../src/operations/kind';
import type {
  ApprovalDeps,
  Beginning,
  Begun,
  CreatableSubject,
  CreateInput,
  ExecutableSubject,
} from '../approvals/subject';

/** The input of a proposal's creation. */
export interface CreateProposalInput extends CreateInput {
  readonly resourceType: ResourceType;
  readonly action: ProposalAction;
}

const UNCHANGED = 'unchanged';

function kindContext({ networks, deriveAccount }: ApprovalDeps, tx: Tx, organizationId: string): KindContext {
  return { tx, organizationId, networks, deriveAccount };
}

/** Writes notes about the change on the other open approvals. Returns how many notes were written. */
async function noteChanges(
  tx: Tx,
  { record, now }: ProposalSnapshot,
  notices: Applied['notices'] = [],
): Promise<number> {
  const { organizationId, id } = record;
  return noteOnOpenApprovals(tx, organizationId, id, [
    ...adminChanges(now.admins, await readAdmins(tx, organizationId)),
    ...notices.map(({ subject, ...notice }) => ({ target: { subject }, ...notice })),
  ]);
}

/** Applies the operation. A refusal rolls it back. */
async function apply(
  { deps, tx }: { readonly deps: ApprovalDeps; readonly tx: Tx },
  { seen, actor }: Beginning<ProposalSnapshot>,
): Promise<Begun | { readonly refused: { readonly code: 'stale'; readonly message: string } }> {
  const { record } = seen;
  await savepoint(tx, UNCHANGED);
  const kind = kindOf(record.resourceType, record.action);
  const applied = await kind.apply(kindContext(deps, tx, record.organizationId), record);
  if (!applied.ok) {
    await rollbackTo(tx, UNCHANGED);
    return { refused: { code: 'stale', message: applied.refusal.message } };
  }
  const { resources, effective = false, audit, notices, setPositions } = applied.value;
  const deployments = kind.deployments?.of(record) ?? [];
  return {
    isComplete: deployments.length === 0,
    result: { resolution: 'approved', resources },
    audit: audit.map((entry) => ({ ...entry, actor })),
    async afterRecorded() {
      await insertDeployments(tx, record.id, deployments);
      await markApplied(tx, record.id, effective);
      return noteChanges(tx, seen, notices);
    },
    setPositions,
  };
}

/** Resets failed deployments for the next execution. */
async function resetFailedDeployments(tx: Tx, record: StoredProposal): Promise<void> {
  for (const deployment of record.deployments.filter(({ status }) => status === 'failed')) {
    await updateDeployment(
      tx,
      { proposalId: record.id, ...deployment },
      { ...deployment, status: 'pending', failure: null, waitingFor: null },
    );
  }
}

/** Organization operations: created by their kind, applied in one database transaction, then deployed. */
export const executableProposal: CreatableSubject<ProposalSnapshot, ProposalState, CreateProposalInput> &
  ExecutableSubject<ProposalSnapshot, ProposalState> = {
  ...proposalSubject,
  isRequestedBy({ resourceType, action }, { path, body }) {
    const kind = findKind(resourceType, action);
    return kind !== undefined && proposes(kind, path, body);
  },
  needsSigningKey: ({ resourceType, action }) => findKind(resourceType, action)?.needsSigningKey === true,
  async observe({ db, networks, readToken, readWalletCode }, { organizationId, resourceType, action }, body) {
    const outside: Outside = {
      networks,
      readToken,
      readWalletCode,
      findMembers: (ids) => findMembers(db, organizationId, ids),
    };
    const observed = await kindOf(resourceType, action).observe?.(outside, body);
    return observed ?? accept(undefined);
  },
  async plan({ deps, tx, input }, body, observed) {
    const { organizationId, resourceType, action } = input;
    const kind = kindOf(resourceType, action);
    const planned = await kind.plan(kindContext(deps, tx, organizationId), body, observed);
    if (!planned.ok) return planned;
    const { data, plan, summary, claims, names, notes = [] } = planned.value;
    return accept({
      summary,
      claims: resourceType === 'admins' ? ['admins', ...claims] : claims,
      names,
      notes,
      store: (inTx, id) => insertProposal(inTx, { id, resourceType, action, data, plan }),
      audit: { data },
    });
  },
  // A change of the organization excludes other executions.
  isExclusive: (record, decision) => decision === 'approve' && !record.applied,
  isOutdated: () => false,
  isResumed: ({ applied }) => applied,
  resume: resetFailedDeployments,
  execute: apply,
  rejectedResult: { resolution: 'rejected', resources: [] },
  clear: async () => undefined,
};
