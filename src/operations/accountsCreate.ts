import { z } from 'zod';
import { accountNetworks } from '../contract/accounts';
import {
  address,
  itemsOf,
  nameInput,
  networkId,
  networkIdsInput,
  noDuplicates,
  responseOnly,
  timestamp,
} from '../contract/primitives';
import { insertAccounts } from '../db/accounts';
import { findSigningKeyAddress } from '../db/chain';
import { newId } from '../db/ids';
import { accept, refuse } from '../domain/refusal';
import { quoted } from '../domain/signing';
import { deploymentCompleted, deploymentFailed } from './accountDeployments';
import { defineOperation } from './kind';
import { describeNetworks, networkSubjects, unknownNetwork } from './networks';

const item = z
  .strictObject({
    name: nameInput,
    networkIds: networkIdsInput,
    ...responseOnly({ address, networks: accountNetworks, createdAt: timestamp, updatedAt: timestamp }),
  })
  .meta({ id: 'NewAccount' })
  .transform(({ name, networkIds }) => ({ name, networkIds }));

/** Two accounts may share a name, but not name and networks. */
const contentOf = ({ name, networkIds }: z.output<typeof item>) =>
  JSON.stringify([name, [...networkIds].sort((one, two) => one - two)]);

export const accountsCreateBody = z.strictObject({ items: itemsOf(item).check(noDuplicates(contentOf)) });

const data = z.object({ items: z.array(z.object({ name: z.string(), networkIds: z.array(networkId) })) });

/** New shared wallets: each at one address on all its networks. */
export const accountsCreate = defineOperation({
  resourceType: 'accounts',
  action: 'create',
  needsSigningKey: true,
  requests: [
    {
      id: 'proposeAccountsCreate',
      path: '/accounts/proposals/create',
      summary: 'Propose new accounts',
      description: 'Each account gets one address, the same on every network.',
      body: accountsCreateBody,
      exampleBody: { items: [{ name: 'Treasury', networkIds: [31337, 31338] }] },
    },
  ],
  data,

  async plan({ networks }, { items }) {
    const unknown = unknownNetwork(networks, items);
    if (unknown) return unknown;
    const described = items.map(
      ({ name, networkIds }) => `${quoted(name)} on ${describeNetworks(networks, networkIds)}`,
    );
    // Ids of the new accounts, in the order of the items: their addresses derive from them.
    const accountIds = items.map(() => newId('acc'));
    return accept({
      data: { items },
      plan: { accountIds },
      summary: `Create ${items.length === 1 ? 'account' : `${items.length} accounts:`} ${described.join('; ')}`,
      // An account exists once it is on one network; until it is on all, no other proposal changes it.
      claims: accountIds.map((id) => `account:${id}`),
      names: networkSubjects(items),
    });
  },

  async apply({ tx, organizationId, networks, deriveAccount }, proposal) {
    const { items } = proposal.data;
    const { accountIds } = proposal.plan;
    const unknown = unknownNetwork(networks, items);
    if (unknown) return unknown;
    const owner = await findSigningKeyAddress(tx, organizationId);
    if (owner === undefined)
      return refuse('conflict', 'the signing key of the organization is not available yet');
    const accounts = items.map((item, index) => {
      const id = accountIds[index];
      if (id === undefined) throw new Error(`proposal ${proposal.id} has no account id for item ${index}`);
      return { ...item, id, derived: deriveAccount(owner, id) };
    });
    await insertAccounts(tx, organizationId, accounts);
    return accept({
      resources: accounts.map(({ id }) => ({ type: 'account' as const, id, uri: `/api/v1/accounts/${id}` })),
      audit: [],
    });
  },

  deployments: {
    of: ({ data: { items }, plan: { accountIds } }) =>
      items.flatMap(({ networkIds }, index) => {
        const accountId = accountIds[index];
        return accountId === undefined ? [] : networkIds.map((networkId) => ({ accountId, networkId }));
      }),
    completed: deploymentCompleted,
    failed: deploymentFailed,
  },
});
