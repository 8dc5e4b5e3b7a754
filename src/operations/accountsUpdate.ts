import { z } from 'zod';
import {
  idInput,
  itemsOf,
  nameInput,
  networkId,
  networkIdsInput,
  noDuplicates,
  responseOnly,
} from '../contract/primitives';
import { findAccounts } from '../db/accounts';
import { accept, refuse } from '../domain/refusal';
import { quoted } from '../domain/signing';
import { defineOperation } from './kind';
import { describeNetworks, networkSubjects, unknownNetwork } from './networks';

const item = z
  .strictObject({
    id: idInput('acc'),
    name: nameInput.optional(),
    networkIds: networkIdsInput.optional().meta({ description: 'Networks to add.' }),
    ...responseOnly('address', 'networks', 'createdAt', 'updatedAt'),
  })
  .refine((item) => item.name !== undefined || item.networkIds !== undefined, 'changes nothing')
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
    z.object({ id: z.string(), name: z.string().optional(), networkIds: z.array(networkId).optional() }),
  ),
});

/** A new name for accounts, or more networks that they are on. */
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
      if (!account) return refuse('validationError', `there is no account ${item.id}`, `items[${i}].id`);
      const present = (item.networkIds ?? []).findIndex((id) => account.networkIds.includes(id));
      if (present >= 0) {
        return refuse(
          'validationError',
          `account ${item.id} is on network ${item.networkIds?.[present]} already`,
          `items[${i}].networkIds[${present}]`,
        );
      }
      const renames = item.name !== undefined && item.name !== account.name;
      const adds = (item.networkIds ?? []).length > 0;
      if (!renames && !adds) {
        return refuse('validationError', `nothing about account ${item.id} would change`, `items[${i}]`);
      }
      const changes = [
        ...(renames ? [`name it ${quoted(item.name ?? '')}`] : []),
        ...(adds ? [`add ${describeNetworks(networks, item.networkIds ?? [])}`] : []),
      ];
      described.push(`${quoted(account.name)} (${account.address}): ${changes.join(' and ')}`);
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
      if (!account) return refuse('conflict', `account ${item.id} is no longer there`);
      const present = (item.networkIds ?? []).find((id) => account.networkIds.includes(id));
      if (present !== undefined) {
        return refuse('conflict', `account ${item.id} is on network ${present} already`);
      }
      if (item.name !== undefined && item.name !== account.name) {
        await tx('accounts')
          .where({ id: item.id })
          .update({ name: item.name, updated_at: tx.raw('now()') });
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
      deployments: items.flatMap((item) =>
        (item.networkIds ?? []).map((networkId) => ({ accountId: item.id, networkId })),
      ),
      effective: audit.length > 0,
      audit,
    });
  },
});
