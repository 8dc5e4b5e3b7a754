import { changePolicies, policiesData, policyNetworks, policyTokens, summaryOfPolicies } from './policies';
import { defineRule } from './rule';

/** New policies. */
export const policiesCreate = defineRule({
  resourceType: 'policies',
  action: 'create',
  data: policiesData,
  change: changePolicies,
  summary: summaryOfPolicies,
  networkIds: policyNetworks,
  tokens: policyTokens,
});
