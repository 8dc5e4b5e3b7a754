import { type Edit, expectRevision, findResource } from '../domain/governance';
import { accept, refuse } from '../domain/refusal';
import { describePolicy, named, policiesData, shownOtherwise } from './policies';
import { defineRule } from './rule';
import { operationSummary } from './words';

/** Removes policies. */
export const policiesRemove = defineRule({
  resourceType: 'policies',
  action: 'remove',
  data: policiesData,

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
