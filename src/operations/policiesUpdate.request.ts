import { policiesBodies } from '../contract/policyContract';
import { defineOperation } from './kind';
import { EXAMPLE_CHANGED_POLICY, mixedRequest } from './policies.request';
import { policiesUpdate } from './policiesUpdate';
import { observePolicies, planPolicies } from './policyItems.request';

/** How it is proposed. */
export const policiesUpdateRequest = defineOperation(policiesUpdate, {
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
  observe: observePolicies,
  plan: planPolicies,
});
