import { policiesBodies } from '../contract/policyContract';
import { findAccounts } from '../db/accounts';
import { findResource, type PolicyState } from '../domain/governance';
import { policyView } from '../domain/policy';
import { accept, refuse } from '../domain/refusal';
import { defineOperation } from './kind';
import type { ProposedPolicy } from './policies';
import { policiesRemove } from './policiesRemove';

/** How it is proposed. */
export const policiesRemoveRequest = defineOperation(policiesRemove, {
  requests: [
    {
      id: 'proposePoliciesRemove',
      path: '/policies/proposals/remove',
      summary: 'Propose the removal of policies',
      description: 'Transactions that only a removed policy permits can no longer be executed.',
      body: policiesBodies.remove,
      exampleBody: { policyIds: ['pol_01jz8k3v5fe5ht0n2m6w9r4xyz'] },
    },
  ],

  async plan({ db, state }, { policyIds }) {
    const doomed: PolicyState[] = [];
    for (const [i, policyId] of policyIds.entries()) {
      const policy = findResource(state, 'policy', policyId);
      if (!policy)
        return refuse(
          'validationError',
          `policy ${policyId} not found in this organization`,
          `policyIds[${i}]`,
        );
      doomed.push(policy);
    }
    const accountIds = doomed.flatMap(({ definition }) => definition.accountIds ?? []);
    const accounts = await findAccounts(db, state.id, accountIds);
    const subjects = policyIds.map((id) => `policy:${id}`);
    return accept({
      data: {
        policies: doomed.map(
          ({ id, revision, definition }): ProposedPolicy => ({
            id,
            revision,
            ...policyView(definition, accounts),
          }),
        ),
      },
      claims: subjects,
      mentions: subjects,
    });
  },
});
