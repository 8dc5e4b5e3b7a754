import { proposalSubject } from '../../src/approvals/proposalSubject';
import type { Tx } from '../../src/db/database';
import { readAdmins } from '../../src/db/members';
import { insertProposal, type ProposalSnapshot, updateDeployment } from '../../src/db/proposals';
import type { StoredProposal } from '../../src/db/storedProposals';
import { adminsSequence } from '../../src/domain/adminsSafe';
import { adminsSafeNotes } from '../../src/domain/adminsSafeNotes';
import type { ApprovalRecord, Note } from '../../src/domain/approval';
import type { OrganizationState } from '../../src/domain/governance';
import {
  type ProposalAction,
  type ProposalState,
  proposalState,
  type ResourceType,
} from '../../src/domain/proposal';
import { accept } from '../../src/domain/refusal';
import type { Wallet } from '../../src/domain/wallet';
import { walletWarning } from '../../src/domain/walletWarning';
import { findKind, operationKindOf, proposes } from '../../src/operations';
import { planOperation } from '../../src/operations/plan';
import type {
  ApprovalDeps,
  CreatableSubject,
  CreateInput,
  ExecutableSubject,
} from '../approvals/executableSubject';

/** The input of a proposal's creation. */
export interface CreateProposalInput extends CreateInput {
  readonly resourceType: ResourceType;
  readonly action: ProposalAction;
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

/** The state of a new proposal; undefined where the tables are behind what it was planned from. */
function newProposalState(
  created: ApprovalRecord,
  planned: Pick<StoredProposal, 'resourceType' | 'action' | 'data'>,
  { sequence, admins }: OrganizationState,
  read: { readonly sequence: bigint; readonly time: Date },
): ProposalState | undefined {
  if (read.sequence !== BigInt(sequence)) return undefined;
  const initial = { applied: false, effective: false, result: null, deployments: [] };
  // Nobody has signed: who the admins are does not count yet.
  const now = { time: read.time, admins: { threshold: admins.threshold, members: [] } };
  return proposalState({ ...created, ...planned, ...initial }, now);
}

/** What the chain says against the stated kinds of wallets, each once. */
async function walletWarnings(
  { readWalletCode }: Pick<ApprovalDeps, 'readWalletCode'>,
  wallets: readonly Wallet[],
): Promise<readonly Omit<Note, 'at'>[]> {
  const warnings = await Promise.all(
    wallets.map(async (wallet) => walletWarning(wallet, await readWalletCode(wallet.walletAddress))),
  );
  return warnings.filter((warning) => warning !== undefined);
}

/** What is to be known of the admins' Safe before a change is signed. */
async function safeNotes(
  { db, signerNetworkId }: Pick<ApprovalDeps, 'db' | 'signerNetworkId'>,
  before: OrganizationState,
  after: OrganizationState,
): Promise<readonly Omit<Note, 'at'>[]> {
  const isChange = before.admins.onChain && adminsSequence(before) !== adminsSequence(after);
  const { safes } = isChange ? await readAdmins(db, before.id) : { safes: [] };
  return adminsSafeNotes(before, after, { signerNetworkId, safes });
}

/** Organization operations: created by their kind, sealed by the signer, projected into the tables, then deployed. */
export const executableProposal: CreatableSubject<ProposalSnapshot, ProposalState, CreateProposalInput> &
  ExecutableSubject<ProposalSnapshot, ProposalState> = {
  ...proposalSubject,
  takenText: ({ claim, holder: heldBy }) => `the open proposal ${heldBy} already changes ${claim}`,
  isRequestedBy({ resourceType, action }, { path, body }) {
    const kind = findKind(resourceType, action);
    return kind !== undefined && proposes(kind, path, body);
  },
  async plan(deps, { id, organizationId, resourceType, action }, body) {
    const kind = operationKindOf(resourceType, action);
    const planned = await planOperation(deps, organizationId, kind, body);
    if (!planned.ok) return planned;
    const { data, summary, claims, mentions, state, after } = planned.value;
    return accept({
      summary,
      claims: resourceType === 'admins' ? ['admins', ...claims] : claims,
      mentions,
      notes: [
        ...(await walletWarnings(deps, kind.wallets?.(state, body) ?? [])),
        ...(await safeNotes(deps, state, after)),
      ],
      insert: insertProposal(deps.db, { id, organizationId, summary, resourceType, action, data, mentions }),
      audit: { resourceType, action, data },
      initialState: (created, read) => newProposalState(created, { resourceType, action, data }, state, read),
    });
  },
  isOutdated: () => false,
  isResumed: ({ applied }) => applied,
  resume: resetFailedDeployments,
  // What is approved and sealed already only gives its deployments up.
  isRejectionSealed: ({ applied }) => !applied,
  rejectedResult: { resolution: 'rejected', resources: [] },
  clear: async (_tx, seen) => seen,
};
