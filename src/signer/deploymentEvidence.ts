import type { Tx } from '../db/database';
import type { AccountDerivation } from '../domain/account';
import type { OrganizationState } from '../domain/governance';
import type { DeploymentKey } from '../domain/proposal';
import { accountIn } from './account';
import { SignerRefusal } from './refusal';
import type { SignerContext } from './signerContext';
import { findProposal } from './store/proposalsToSeal';

/**
 * The account to deploy, and the sealed state. Throws SignerRefusal unless the deployment is pending, and the account and its network are
 * sealed: their votes were verified then.
 */
export async function assertDeployment(
  context: SignerContext,
  tx: Tx,
  key: DeploymentKey,
): Promise<{ readonly account: AccountDerivation; readonly state: OrganizationState }> {
  const { organizationId, proposalId, accountId, networkId } = key;
  const proposal = await findProposal(tx, organizationId, proposalId);
  const recorded = proposal?.deployments.find(
    (deployment) => deployment.accountId === accountId && deployment.networkId === networkId,
  );
  if (proposal?.executionStatus !== 'processing' || recorded?.status !== 'pending') {
    throw new SignerRefusal(
      'stale',
      `proposal ${proposalId} is not deploying account ${accountId} on network ${networkId}`,
    );
  }
  const { state } = await context.readSealedState(tx, organizationId);
  return { account: accountIn(context, state, key), state };
}
