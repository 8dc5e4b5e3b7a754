import { changePolicies, policiesData, policyNetworks, policyTokens, summaryOfPolicies } from './policies';
import { defineRule } from './rule';

/** Replaces policies completely, alone or together with new ones. */
export const policiesUpdate = defineRule({
  resourceType: 'policies',
  action: 'update',
  data: policiesData,
  change: changePolicies,
  summary: summaryOfPolicies,
  networkIds: policyNetworks,
  tokens: policyTokens,
});
