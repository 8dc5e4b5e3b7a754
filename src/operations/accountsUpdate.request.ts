import type { z } from 'zod';
import { type AccountChange, accountsUpdateBody } from '../contract/accountChanges';
import { type Account, findAccounts } from '../db/accounts';
import { findResource } from '../domain/governance';
import { accept, refuse } from '../domain/refusal';
import { deploymentCompleted, deploymentFailed } from './accountDeployments.request';
import { accountsUpdate } from './accountsUpdate';
import { defineOperation } from './kind';
import { networkSubjects, unknownNetwork } from './networks.request';

/** Refuses networks that an account is already on, and an empty change. */
function idleChange(account: Account, { name, networkIds = [] }: AccountChange, field: string) {
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

/** How it is proposed. */
export const accountsUpdateRequest = defineOperation(accountsUpdate, {
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

  async plan({ db, state, networks }, { items }) {
    const unknown = unknownNetwork(networks, items);
    if (unknown) return unknown;
    const ids = items.map(({ id }) => id);
    const accounts = await findAccounts(db, state.id, ids);
    const planned: z.output<typeof accountsUpdate.data>['items'][number][] = [];
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
      mentions: [...items.map(({ id }) => `account:${id}`), ...networkSubjects(items)],
    });
  },

  deployments: {
    of: ({ items }) =>
      items.flatMap(({ id, networkIds = [] }) => networkIds.map((on) => ({ accountId: id, networkId: on }))),
    completed: deploymentCompleted,
    failed: deploymentFailed,
  },
});
