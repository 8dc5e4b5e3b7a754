import { z } from 'zod';
import { deriveAccount } from '../chain/safeAccount';
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
import { newId } from '../db/ids';
import { type Edit, expectNew } from '../domain/governance';
import { accept, refuse } from '../domain/refusal';
import { listLine, quotedName } from '../domain/summary';
import { deploymentCompleted, deploymentFailed } from './accountDeployments';
import { defineOperation } from './kind';
import { describeNetworks, networkSubjects, unknownNetwork } from './networks';
import { operationSummary } from './words';

const item = z
  .strictObject({
    name: nameInput,
    networkIds: networkIdsInput,
    ...responseOnly({ address, networks: accountNetworks, createdAt: timestamp, updatedAt: timestamp }),
  })
  .meta({ id: 'AccountInput' })
  .transform(({ name, networkIds }) => ({ name, networkIds }));

/** The same account a second time; of equal names alone the state of the organization decides. */
const contentOf = ({ name, networkIds }: z.output<typeof item>) =>
  JSON.stringify([name, [...networkIds].sort((one, two) => one - two)]);

export const accountsCreateBody = z.strictObject({ items: itemsOf(item).check(noDuplicates(contentOf)) });

const data = z.object({
  items: z.array(z.object({ id: idOf('acc'), name: z.string(), address, networkIds: z.array(networkId) })),
});

/** New shared wallets: each at one address on all its networks. */
export const accountsCreate = defineOperation({
  resourceType: 'accounts',
  action: 'create',
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

  async plan({ state, networks }, { items }) {
    const unknown = unknownNetwork(networks, items);
    if (unknown) return unknown;
    const accounts = items.map((item) => {
      const id = newId('acc');
      return { id, address: deriveAccount(state.signingKey, id).address, ...item };
    });
    return accept({
      data: { items: accounts },
      // An account exists once it is on one network; until it is on all, no other proposal changes it.
      claims: accounts.map(({ id }) => `account:${id}`),
      names: networkSubjects(items),
    });
  },

  change(state, { items }) {
    const ids = items.map(({ id }) => id);
    const taken = expectNew(state, 'account', ids);
    if (taken) return taken;
    const edits: Edit[] = [];
    for (const { id, name, address: signed, networkIds } of items) {
      if (deriveAccount(state.signingKey, id).address !== signed) {
        return refuse('conflict', `account ${id} would not have the address ${signed}`);
      }
      const ascending = [...networkIds].sort((one, two) => one - two);
      edits.push({ type: 'account', id, after: { id, name, address: signed, networkIds: ascending } });
    }
    return accept(edits);
  },

  summary({ networks }, { items }) {
    const described = items.map(({ name, address: at, networkIds }): [string] => [
      listLine(`${quotedName(name)} (${at}) on `, describeNetworks(networks, networkIds)),
    ]);
    return operationSummary('Create', 'account', described);
  },

  networkIds: ({ items }) => items.flatMap(({ networkIds }) => networkIds),

  deployments: {
    of: ({ items }) =>
      items.flatMap(({ id, networkIds }) => networkIds.map((on) => ({ accountId: id, networkId: on }))),
    completed: deploymentCompleted,
    failed: deploymentFailed,
  },
});
