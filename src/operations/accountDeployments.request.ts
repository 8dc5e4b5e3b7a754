import { findAccountToDeploy, insertAccountNetwork, markAccountDeployed } from '../db/accounts';
import type { Tx } from '../db/database';
import type { CompletedDeployment, FailedDeployment, RecordedChange } from './kind';

/** Records an account on the network of its deployment. An account is created with its first deployment. */
export async function deploymentCompleted(
  { tx, organizationId }: { readonly tx: Tx; readonly organizationId: string },
  proposalId: string,
  deployment: CompletedDeployment,
): Promise<RecordedChange> {
  const { accountId, networkId, transactionHash } = deployment;
  const account = await findAccountToDeploy(tx, organizationId, accountId);
  if (!account) throw new Error(`account ${accountId} not found in organization ${organizationId}`);
  const { name, address, networkIds } = account;
  const created = networkIds.length === 0;
  await insertAccountNetwork(tx, deployment);
  const about = { resourceType: 'account', resourceId: accountId };
  return {
    audit: [
      ...(created
        ? [
            {
              ...about,
              action: 'account.created' as const,
              details: { proposalId, after: { name, address } },
            },
          ]
        : []),
      {
        ...about,
        action: 'account.deployed' as const,
        details: { proposalId, networkId, address, transactionHash },
      },
    ],
    setPositions: ([position]) => markAccountDeployed(tx, accountId, created ? position : undefined),
  };
}

/** The audit entry of a deployment that failed. The account does not change. */
export function deploymentFailed(
  proposalId: string,
  { accountId, networkId, failure }: FailedDeployment,
): RecordedChange['audit'] {
  return [
    {
      action: 'account.deploymentFailed',
      resourceType: 'account',
      resourceId: accountId,
      details: { proposalId, networkId, failure: { ...failure } },
    },
  ];
}
