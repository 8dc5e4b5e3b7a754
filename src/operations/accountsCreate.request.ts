import { deriveAccount } from '../chain/safeAccount';
import { accountsCreateBody } from '../contract/accountChanges';
import { newId } from '../db/ids';
import { accept } from '../domain/refusal';
import { deploymentCompleted, deploymentFailed } from './accountDeployments.request';
import { accountsCreate } from './accountsCreate';
import { defineOperation } from './kind';
import { networkSubjects, unknownNetwork } from './networks.request';

/** How it is proposed. */
export const accountsCreateRequest = defineOperation(accountsCreate, {
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
      mentions: networkSubjects(items),
    });
  },

  deployments: {
    of: ({ items }) =>
      items.flatMap(({ id, networkIds }) => networkIds.map((on) => ({ accountId: id, networkId: on }))),
    completed: deploymentCompleted,
    failed: deploymentFailed,
  },
});
