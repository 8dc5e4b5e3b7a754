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
  revision,
  timestamp,
} from '../contract/primitives';
import { type Account, findAccounts } from '../db/accounts';
import { type AccountState, type Edit, expectRevision, findResource } from '../domain/governance';
import { accept, refuse } from '../domain/refusal';
import { listLine, quotedName } from '../domain/summary';
import { deploymentCompleted, deploymentFailed } from './accountDeployments';
import { defineOperation } from './kind';
import { describeNetworks, networkSubjects, unknownNetwork } from './networks';
import { operationSummary } from './words';

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
    z.object({
      id: idOf('acc'),
      revision,
      name: z.string().optional(),
      networkIds: z.array(networkId).optional(),
    }),
  ),
});

type Item = z.output<typeof item>;

/** Refuses networks that an account is already on, and an empty change. */
function idleChange(account: Account, { name, networkIds = [] }: Item, field: string) {
  const present = networkIds.findIndex((id) => account.networkIds.includes(id));
  if (present >= 0) {
    return refuse(
      'validationError',
      `account ${account.id} is already on network ${networkIds[present]}`,
      `${field}.networkIds[${present}]`,
    );
  }
  if (networkIds.length > 0 || (name !== undefined && name !== account.name)) return undefined;
  return refuse('validationError', `nothing about account ${account.id} would change`, field);
}

/** What an item changes about an account, in words. */
function describeChange(
  networks: readonly NetworkConfig[],
  account: AccountState,
  { name, networkIds = [] }: z.output<typeof data>['items'][number],
): string {
  const start = `${quotedName(account.name)} (${account.address}): `;
  const renamed = name === undefined || name === account.name ? '' : `name it ${quotedName(name)}`;
  if (networkIds.length === 0) return `${start}${renamed}`;
  return listLine(
    `${start}${renamed}${renamed === '' ? '' : ' and '}add `,
    describeNetworks(networks, networkIds),
  );
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

  async plan({ db, state, networks }, { items }) {
    const unknown = unknownNetwork(networks, items);
    if (unknown) return unknown;
    const ids = items.map(({ id }) => id);
    const accounts = await findAccounts(db, state.id, ids);
    const planned: z.output<typeof data>['items'] = [];
    for (const [i, item] of items.entries()) {
      const account = accounts.find(({ id }) => id === item.id);
      const decided = findResource(state, 'account', item.id);
      if (!account || !decided) {
        return refuse(
          'validationError',
          `account ${item.id} not found in this organization`,
          `items[${i}].id`,
        );
      }
      const idle = idleChange(account, item, `items[${i}]`);
      if (idle) return idle;
      planned.push({ ...item, revision: decided.revision });
    }
    return accept({
      data: { items: planned },
      claims: items.map(({ id }) => `account:${id}`),
      names: [...items.map(({ id }) => `account:${id}`), ...networkSubjects(items)],
    });
  },

  change(state, { items }) {
    const edits: Edit[] = [];
    for (const { name, networkIds = [], ...signed } of items) {
      const found = expectRevision(state, 'account', signed, `account ${signed.id}`);
      if (!found.ok) return found;
      const { revision: _, ...account } = found.value;
      const all = [...new Set([...account.networkIds, ...networkIds])].sort((one, two) => one - two);
      const after = { ...account, name: name ?? account.name, networkIds: all };
      edits.push({ type: 'account', id: account.id, after });
    }
    return accept(edits);
  },

  summary({ state, networks }, { items }) {
    const described = items.flatMap((item): [string][] => {
      const account = findResource(state, 'account', item.id);
      return account ? [[describeChange(networks, account, item)]] : [];
    });
    return operationSummary('Update', 'account', described);
  },

  networkIds: ({ items }) => items.flatMap(({ networkIds = [] }) => networkIds),

  deployments: {
    of: ({ items }) =>
      items.flatMap(({ id, networkIds = [] }) => networkIds.map((on) => ({ accountId: id, networkId: on }))),
    completed: deploymentCompleted,
    failed: deploymentFailed,
  },
});
