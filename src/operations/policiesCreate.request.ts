import { EXAMPLE_POLICY, policiesBodies } from '../contract/policyContract';
import { defineOperation } from './kind';
import { mixedRequest } from './policies.request';
import { policiesCreate } from './policiesCreate';
import { observePolicies, planPolicies } from './policyItems.request';

/** How it is proposed. */
export const policiesCreateRequest = defineOperation(policiesCreate, {
  requests: [
    { ...mixedRequest, appliesTo: ({ policies }) => policies.every(({ id }) => id === undefined) },
    {
      id: 'proposePoliciesAdd',
      path: '/policies/proposals/add',
      summary: 'Propose new policies',
      description: 'Symbol, name and decimals of a token are read from its chain.',
      body: policiesBodies.add,
      exampleBody: { policies: [EXAMPLE_POLICY] },
    },
  ],
  observe: observePolicies,
  plan: planPolicies,
});
