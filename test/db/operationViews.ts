import type { StoredProposal } from '../../src/db/storedProposals';
import { type ProposalContext, proposalState } from '../../src/domain/proposal';
import { byId, policyDefinition, sorted } from './operationBodies';
import type { OrganizationModel } from './operations.model';
import type { Snapshot } from './operationWorld';

/** An organization as it is, and what is new since it was read last. */
export function viewOfDatabase(before: Snapshot, now: Snapshot) {
  const known = new Map(before.proposals.map(({ id, notes }) => [id, notes.length]));
  const notes = now.proposals.flatMap((proposal) =>
    proposal.notes.slice(known.get(proposal.id) ?? 0).map(({ code }) => `${proposal.id} ${code}`),
  );
  return {
    members: now.members,
    groups: now.groups,
    policies: now.policies.map(({ id, name, definition }) => [id, sorted({ name, ...definition })]),
    accounts: now.accounts.map(({ id, name, networkIds }) => ({ id, name, networkIds })),
    admins: now.adminIds,
    threshold: now.threshold,
    claims: now.claims.map((claim) => claim.join(' ')).sort(),
    audit: now.audit.map(({ action, resourceId }) => `${action} ${resourceId}`).sort(),
    notes: [...new Set(notes)].sort(),
    evidence: now.evidence
      .map(({ proposalId, resolution, signatures }) => [
        proposalId,
        resolution,
        ...signatures.map(({ memberId }) => memberId).sort(),
      ])
      .sort(),
    proposals: now.proposals.map((record) => shown(record, now.now)).sort(byId),
  };
}

/** What the model holds, in the shape of the view of the tables. */
export function viewOfModel(model: OrganizationModel) {
  return {
    members: [...model.members.values(), ...model.intruders].sort(byId),
    groups: [...model.groups.values()].sort(byId),
    policies: [...model.policies.values()]
      .sort(byId)
      .map((policy) => [policy.id, sorted(policyDefinition(policy))]),
    accounts: [...model.accounts.values()].sort(byId),
    admins: [...model.adminIds].sort(),
    threshold: model.threshold,
    claims: model.proposals.flatMap(({ id, claims }) => claims.map((claim) => `${id} ${claim}`)).sort(),
    audit: [...model.audit].sort(),
    notes: [...model.notes].sort(),
    evidence: model.proposals
      .flatMap((proposal) =>
        proposal.resolutions.map(({ resolution, voterIds }) => [proposal.id, resolution, ...voterIds]),
      )
      .sort(),
    proposals: model.proposals
      .map((proposal) => ({
        id: proposal.id,
        kind: proposal.kind,
        ...model.tally(proposal),
        open: model.isOpen(proposal),
        closed: proposal.closed,
        expired: proposal.frozen?.signatureStatus === 'expired',
        executionStatus: proposal.status,
        attempts: proposal.attempts,
        votes: proposal.votes.map(({ memberId, type, wallet }) => ({ memberId, type, wallet })),
        deployments: proposal.deployments.map(({ accountId, networkId, status }) => ({
          accountId,
          networkId,
          status,
        })),
        failed: proposal.status === 'failed' || proposal.status === 'blocked',
      }))
      .sort(byId),
  };
}

/** What can be seen of a proposal, and how the domain computes it from what is stored. */
function shown(record: StoredProposal, now: ProposalContext) {
  const state = proposalState(record, now);
  return {
    id: record.id,
    kind: `${record.resourceType}/${record.action}`,
    signatureStatus: state.signatureStatus,
    threshold: state.threshold,
    approvals: state.approvals,
    rejections: state.rejections,
    open: state.open,
    closed: state.closed,
    expired: state.expired,
    executionStatus: state.executionStatus,
    attempts: record.executionAttempt,
    votes: record.votes.map(({ memberId, type, signerAddress }) => ({
      memberId,
      type,
      wallet: signerAddress,
    })),
    deployments: state.deployments.map(({ accountId, networkId, status }) => ({
      accountId,
      networkId,
      status,
    })),
    failed: record.failure !== null,
  };
}
