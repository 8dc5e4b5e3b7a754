import { type Edit, findExcess, type OrganizationState } from '../domain/governance';
import type { ResourceType } from '../domain/proposal';
import { refuse } from '../domain/refusal';

/**
 * Refuses a request that gives an organization more resources of a kind than it may have, with the first item beyond;
 * undefined otherwise. Kinds that create resources create one for each of their items, in their order.
 */
export function refuseExcess(
  state: OrganizationState,
  resourceType: ResourceType,
  edits: readonly Edit[],
): ReturnType<typeof refuse> | undefined {
  const excess = findExcess(state, edits);
  if (!excess) return undefined;
  return refuse(
    'conflict',
    excess.message,
    `${resourceType === 'policies' ? 'policies' : 'items'}[${excess.place}]`,
  );
}
