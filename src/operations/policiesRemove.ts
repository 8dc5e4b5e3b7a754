import { policiesBodies } from '../contract/policies';
import { findAccounts } from '../db/accounts';
import { definitionOf, findPolicies, removePolicies, type StoredPolicy } from '../db/policies';
import { canonicalJson } from '../domain/canonicalJson';
import { policyOfView, policyView } from '../domain/policy';
import { accept, refuse } from '../domain/refusal';
import { defineOperation } from './kind';
import { describePolicy, policiesData, recorded } from './policyItems';
import { listed } from './words';

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

  async plan({ tx, organizationId }, { policyIds }) {
    const stored = await findPolicies(tx, organizationId, policyIds);
    const doomed: StoredPolicy[] = [];
    for (const [i, policyId] of policyIds.entries()) {
      const policy = stored.find(({ id }) => id === policyId);
      if (!policy)
        return refuse(
          'validationError',
          `policy ${policyId} not found in this organization`,
          `policyIds[${i}]`,
        );
      doomed.push(policy);
    }
    const accountIds = doomed.flatMap((policy) => policy.accountIds ?? []);
    const accounts = await findAccounts(tx, organizationId, accountIds);
    const subjects = policyIds.map((id) => `policy:${id}`);
    return accept({
      data: {
        policies: doomed.map((policy) => policyView({ id: policy.id, ...definitionOf(policy) }, accounts)),
      },
      plan: {},
      summary: `Remove ${doomed.length === 1 ? 'policy' : `${doomed.length} policies:`} ${listed(doomed.map(describePolicy), ', ')}`,
      claims: subjects,
      names: subjects,
    });
  },

  async apply({ tx, organizationId }, { id: proposalId, data: { policies: views } }) {
    const ids = views.flatMap(({ id }) => id ?? []);
    const stored = await findPolicies(tx, organizationId, ids, { lock: 'update' });
    const doomed: StoredPolicy[] = [];
    for (const view of views) {
      const policy = stored.find(({ id }) => id === view.id);
      if (!policy) {
        return refuse('conflict', `policy ${describePolicy({ id: '', ...view })} no longer exists`);
      }
      if (canonicalJson(definitionOf(policy)) !== canonicalJson(policyOfView(view))) {
        return refuse(
          'conflict',
          `policy ${describePolicy(policy)} has been changed since this was proposed`,
        );
      }
      doomed.push(policy);
    }
    await removePolicies(tx, ids);
    return accept({
      resources: doomed.map(({ id }) => ({ type: 'policy' as const, id })),
      audit: doomed.map((policy) => ({
        action: 'policy.removed',
        resourceType: 'policy',
        resourceId: policy.id,
        details: { before: recorded(policy), proposalId },
      })),
      notices: doomed.map((policy) => ({
        subject: `policy:${policy.id}`,
        code: 'policyRemoved',
        message: `policy ${describePolicy(policy)} has been removed`,
      })),
    });
  },
});
