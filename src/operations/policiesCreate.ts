import { policiesBodies } from '../contract/policies';
import { defineOperation } from './kind';
import {
  changePolicies,
  observePolicies,
  planPolicies,
  policiesData,
  policyNetworks,
  policyTokens,
  summaryOfPolicies,
} from './policyItems';
import { EXAMPLE_POLICY, mixedRequest } from './policyRequests';

/** New policies. */
export const policiesCreate = defineOperation({
  resourceType: 'policies',
  action: 'create',
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
  data: policiesData,
  observe: observePolicies,
  plan: planPolicies,
  change: changePolicies,
  summary: summaryOfPolicies,
  networkIds: policyNetworks,
  tokens: policyTokens,
});
