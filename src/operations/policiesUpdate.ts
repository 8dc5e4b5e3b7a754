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
import { EXAMPLE_CHANGED_POLICY, mixedRequest } from './policyRequests';

/** Replaces policies completely, alone or together with new ones. */
export const policiesUpdate = defineOperation({
  resourceType: 'policies',
  action: 'update',
  requests: [
    { ...mixedRequest, appliesTo: ({ policies }) => policies.some(({ id }) => id !== undefined) },
    {
      id: 'proposePoliciesUpdate',
      path: '/policies/proposals/update',
      summary: 'Propose changes of policies',
      description:
        'Each policy is replaced completely. A policy from a response can be changed and sent back.',
      body: policiesBodies.update,
      exampleBody: { policies: [EXAMPLE_CHANGED_POLICY] },
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
