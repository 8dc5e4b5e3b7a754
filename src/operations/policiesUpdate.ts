import { policiesBodies } from '../contract/policies';
import { defineOperation } from './kind';
import { applyPolicies, observePolicies, planPolicies, policiesData } from './policyItems';
import { EXAMPLE_CHANGED_POLICY, mixedRequest } from './policyRequests';

/** Policies that are replaced whole, alone or together with new ones. */
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
        'Each policy is replaced whole by what is sent. What was read can be sent back with only the change made.',
      body: policiesBodies.update,
      exampleBody: { policies: [EXAMPLE_CHANGED_POLICY] },
    },
  ],
  data: policiesData,
  observe: observePolicies,
  plan: planPolicies,
  apply: applyPolicies,
});
