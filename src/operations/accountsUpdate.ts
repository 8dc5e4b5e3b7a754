import { z } from 'zod';
import type { NetworkConfig } from '../config';
import { accountNetworks } from '../contract/accounts';
import {
  address,
  idOf,
  itemsOf,
  nameInput,
  networkId,
  networkIdsInput,
  noDuplicates,
  responseOnly,
  timestamp,
} from '../contract/primitives';
import { type Account, findAccounts, renameAccount } from '../db/accounts';
import { accept, type Outcome, refuse } from '../domain/refusal';
import { quoted } from '../domain/signing';
import { deploymentCompleted, deploymentFailed } from './accountDeployments';
import { defineOperation } from './kind';
import { describeNetworks, networkSubjects, unknownNetwork } from './networks';

const item = z
  .strictObject({
    id: idOf('acc'),
    name: nameInput.optional(),
    networkIds: networkIdsInput.optional().meta({ description: 'Networks to add.' }),
    ...responseOnly({ address, networks: accountNetworks, createdAt: timestamp, updatedAt: timestamp }),
  })
  .refine((item) => item.name !== undefined || item.networkIds !== undefined, 'changes nothing')
  .meta({ id: 'AccountChange' })
  .transform(({ id, name, networkIds }) => ({
    id,
    ...(name === undefined ? {} : { name }),
    ...(networkIds === undefined ? {} : { networkIds }),
  }));

export const accountsUpdateBody = z.strictObject({
  items: itemsOf(item).check(noDuplicates(({ id }) => id, ['id'])),
});

const data = z.object({
  items: z.array(
    z.object({ id: idOf('acc'), name: z.string().optional(), networkIds: z.array(networkId).optional() }),
  ),
});

type Item = z.output<typeof item>;

/** What an item changes about an account. Refuses networks that it is already on, and an empty change. */
function describeChange(
  networks: readonly NetworkConfig[],
  account: Account,
  { name, networkIds = [] }: Item,
  field: string,
): Outcome<string> {
  const present = networkIds.findIndex((id) => account.networkIds.includes(id));
  if (present >= 0) {
    return refuse(
      'validationError',
      `account ${account.id} is already on network ${networkIds[present]}`,
      `${field}.networkIds[${present}]`,
    );
  }
  const changes = [
    ...(name === undefined || name === account.name ? [] : [`name it ${quoted(name)}`]),
    ...(networkIds.length === 0 ? [] : [`add ${describeNetworks(networks, networkIds)}`]),
  ];
  if (changes.length === 0) {
    return refuse('validationError', `nothing about account ${account.id} would change`, field);
  }
  return accept(`${quoted(account.name)} (${account.address}): ${changes.join(' and ')}`);
}

/** New names or further networks for accounts. */
export const accountsUpdate = defineOperation({
  resourceType: 'accounts',
  action: 'update',
  requests: [
    {
      id: 'proposeAccountsUpdate',
      path: '/accounts/proposals/update',
      summary: 'Propose changes of accounts',
      description: '`networkIds` are the networks to add.',
      body: accountsUpdateBody,
      exampleBody: {
        items: [{ id: 'acc_01jz8k3v5fe5ht0n2m6w9r4xyz', name: 'Treasury', networkIds: [31338] }],
      },
    },
  ],
  data,

  async plan({ tx, organizationId, networks }, { items }) {
    const unknown = unknownNetwork(networks, items);
    if (unknown) return unknown;
    const accounts = await findAccounts(
      tx,
      organizationId,
      items.map((item) => item.id),
    );
    const described: string[] = [];
    for (const [i, item] of items.entries()) {
      const account = accounts.find(({ id }) => id === item.id);
      if (!account) {
        return refuse(
          'validationError',
          `account ${item.id} not found in this organization`,
          `items[${i}].id`,
        );
      }
      const change = describeChange(networks, account, item, `items[${i}]`);
      if (!change.ok) return change;
      described.push(change.value);
    }
    return accept({
      data: { items },
      plan: {},
      summary: `Update ${items.length === 1 ? 'account' : `${items.length} accounts:`} ${described.join('; ')}`,
      claims: items.map(({ id }) => `account:${id}`),
      names: [...items.map(({ id }) => `account:${id}`), ...networkSubjects(items)],
    });
  },

  async apply({ tx, organizationId, networks }, proposal) {
    const { items } = proposal.data;
    const unknown = unknownNetwork(networks, items);
    if (unknown) return unknown;
    const accounts = await findAccounts(
      tx,
      organizationId,
      items.map((item) => item.id),
      { lock: 'update' },
    );
    const audit = [];
    for (const item of items) {
      const account = accounts.find(({ id }) => id === item.id);
      if (!account) return refuse('conflict', `account ${item.id} no longer exists`);
      const present = (item.networkIds ?? []).find((id) => account.networkIds.includes(id));
      if (present !== undefined) {
        return refuse('conflict', `account ${item.id} is already on network ${present}`);
      }
      if (item.name !== undefined && item.name !== account.name) {
        await renameAccount(tx, item.id, item.name);
        audit.push({
          action: 'account.updated',
          resourceType: 'account',
          resourceId: item.id,
          details: { before: { name: account.name }, after: { name: item.name }, proposalId: proposal.id },
        });
      }
    }
    return accept({
      resources: items.map(({ id }) => ({ type: 'account' as const, id, uri: `/api/v1/accounts/${id}` })),
      effective: audit.length > 0,
      audit,
    });
  },

  deployments: {
    of: ({ data: { items } }) =>
      items.flatMap(({ id, networkIds = [] }) =>
        networkIds.map((networkId) => ({ accountId: id, networkId })),
      ),
    completed: deploymentCompleted,
    failed: deploymentFailed,
  },
});
