import { operationDomainSalt } from '../../src/chain/domainSalt';
import type { Db, Tx } from '../../src/db/database';
import { readInstallationId } from '../../src/db/installation';
import { findProposal, readProposalNow, type StoredProposal } from '../../src/db/proposals';
import type { AccountDerivation } from '../../src/domain/account';
import { isExpired, isVoteOf } from '../../src/domain/approval';
import { type DeploymentKey, isPartlyDeployed, type ProposalNow } from '../../src/domain/proposal';
import { proposalPayload } from '../../src/domain/signing';
import { kindOf } from '../../src/operations';
import { assertAccount } from '../signer/account';
import type { SignerContext } from '../signer/context';
import { SignerRefusal } from '../signer/refusal';

/** Approvals with a valid signature, by signature, and their payload. */
export interface VerifiedApprovals {
  readonly payload: string;
  readonly signerOf: ReadonlyMap<string, string>;
}

/** The payload that an approval of the proposal signs, computed from its content: no stored text is trusted. */
async function approvalPayload(handle: Db | Tx, proposal: StoredProposal): Promise<string> {
  const salt = operationDomainSalt(await readInstallationId(handle), proposal.organizationId);
  return proposalPayload('ApproveProposal', salt, proposal);
}

/**
 * Verifies every stored approval again. Outside the database transaction, because signatures of contract wallets are verified on chain.
 * Throws ChainUnavailable.
 */
export async function verifyApprovals(
  { db, identifyVoter }: SignerContext,
  key: DeploymentKey,
): Promise<VerifiedApprovals | undefined> {
  const proposal = await findProposal(db, key.organizationId, key.proposalId);
  if (!proposal) return undefined;
  const payload = await approvalPayload(db, proposal);
  const { admins } = await readProposalNow(db, key.organizationId);
  const approvals = proposal.votes.filter(({ type }) => type === 'approve');
  const verified = await Promise.all(
    approvals.map(async (vote) => {
      const { signature } = vote;
      const eligible = admins.members.filter((member) => isVoteOf(member, vote));
      const voter = await identifyVoter({ payload, signature, eligible });
      return voter.ok ? [[signature, voter.value.signerAddress.toLowerCase()] as const] : [];
    }),
  );
  return { payload, signerOf: new Map(verified.flat()) };
}

/** Throws SignerRefusal unless enough current admins have signed exactly this proposal's content. */
async function assertApprovals(
  tx: Tx,
  proposal: StoredProposal,
  now: ProposalNow,
  verified: VerifiedApprovals | undefined,
): Promise<void> {
  const payload = await approvalPayload(tx, proposal);
  const signers = new Set(
    proposal.votes.flatMap(({ type, signature }) => {
      const signer = type === 'approve' ? verified?.signerOf.get(signature) : undefined;
      return signer !== undefined && verified?.payload === payload ? [signer] : [];
    }),
  );
  const { members, threshold } = now.admins;
  const approvers = members.filter(({ walletAddress }) => signers.has(walletAddress.toLowerCase()));
  if (threshold < 1 || approvers.length < threshold) {
    throw new SignerRefusal(
      'stale',
      `the signer found ${approvers.length} valid approvals by current admins; ${threshold} are required`,
    );
  }
}

/** Throws SignerRefusal unless this deployment is pending in the records, and part of the signed content. */
function assertPending(proposal: StoredProposal, { proposalId, accountId, networkId }: DeploymentKey): void {
  const isThis = (other: { accountId: string; networkId: number }) =>
    other.accountId === accountId && other.networkId === networkId;
  const recorded = proposal.deployments.find(isThis);
  if (proposal.executionStatus !== 'processing' || recorded?.status !== 'pending') {
    throw new SignerRefusal(
      'stale',
      `proposal ${proposalId} is not deploying account ${accountId} on network ${networkId}`,
    );
  }
  const { deployments } = kindOf(proposal.resourceType, proposal.action);
  if (!(deployments?.of(proposal) ?? []).some(isThis)) {
    throw new SignerRefusal(
      'stale',
      `the signed content does not deploy account ${accountId} on network ${networkId}`,
    );
  }
}

/**
 * The account to deploy. Throws SignerRefusal unless the records permit it at this
 * moment. `isSigned`: whether this deployment was signed before.
 */
export async function assertDeploymentEvidence(
  context: SignerContext,
  tx: Tx,
  key: DeploymentKey,
  { verified, isSigned }: { verified: VerifiedApprovals | undefined; isSigned: boolean },
): Promise<AccountDerivation> {
  const proposal = await findProposal(tx, key.organizationId, key.proposalId);
  if (!proposal) throw new SignerRefusal('stale', `proposal ${key.proposalId} not found`);
  const now = await readProposalNow(tx, key.organizationId);
  assertPending(proposal, key);
  if (isExpired(proposal, now.time) && !isPartlyDeployed(proposal) && !isSigned) {
    throw new SignerRefusal('timeout', 'the proposal expired before anything of it was sent');
  }
  await assertApprovals(tx, proposal, now, verified);
  return assertAccount(context, tx, key);
}
