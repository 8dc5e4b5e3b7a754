import { EXAMPLE_POLICY, policiesBodies } from '../contract/policyContract';

export const EXAMPLE_CHANGED_POLICY = { id: 'pol_01jz8k3v5fe5ht0n2m6w9r4xyz', ...EXAMPLE_POLICY };

/** The request that may contain new and changed policies; its kind depends on its items. */
export const mixedRequest = {
  id: 'proposePolicies',
  path: '/policies/proposals',
  summary: 'Propose new policies, changes of policies, or both',
  description:
    'An item without `id` is a new policy; one with `id` replaces that policy completely. Other policies do not ' +
    'change. The action is create if all are new, otherwise update.',
  body: policiesBodies.mixed,
  exampleBody: { policies: [EXAMPLE_POLICY] },
};
