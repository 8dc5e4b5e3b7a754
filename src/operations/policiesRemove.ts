import { policiesBodies } from '../contract/policies';
import { findAccounts } from '../db/accounts';
import { type Edit, expectRevision, findResource, type PolicyState } from '../domain/governance';
import { policyView } from '../domain/policy';
import { accept, refuse } from '../domain/refusal';
import { defineOperation } from './kind';
import { describePolicy, named, type ProposedPolicy, policiesData, shownOtherwise } from './policyItems';
import { operationSummary } from './words';

/** Removes policies. */
export const policiesRemove = defineOperation({
  resourceType: 'policies',
  action: 'remove',
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
  data: policiesData,

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
      names: subjects,
    });
  },

  change(state, { policies }) {
    const edits: Edit[] = [];
    for (const shown of policies) {
      const { id, name, revision = -1 } = shown;
      const policy = expectRevision(
        state,
        'policy',
        { id, revision },
        `policy ${describePolicy({ id, name })}`,
      );
      if (!policy.ok) return policy;
      const difference = shownOtherwise(shown, policy.value.definition, state);
      if (difference !== undefined) {
        return refuse('conflict', `policy ${describePolicy({ id, name })} cannot be removed: ${difference}`);
      }
      edits.push({ type: 'policy', id, after: null });
    }
    return accept(edits);
  },

  summary({ state }, { policies }) {
    const doomed = policies.flatMap(({ id }) => findResource(state, 'policy', id) ?? []);
    const described = doomed.map((policy): [string] => [describePolicy(named(policy))]);
    return operationSummary('Remove', 'policy', described);
  },
});
