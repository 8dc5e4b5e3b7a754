import { type MemberSummary, toMemberSummary } from '../domain/approval';
import { findResource, type GroupState, membersOf, type OrganizationState } from '../domain/governance';
import { accept, refuse } from '../domain/refusal';

/** A group with its members. */
export interface GroupWithMembers extends Pick<GroupState, 'id' | 'name' | 'revision'> {
  readonly members: readonly MemberSummary[];
}

/** The groups with these ids, in that order, with their members. Refuses the first that does not exist. */
export function groupsWithMembers(state: OrganizationState, items: readonly { readonly id: string }[]) {
  const found: GroupWithMembers[] = [];
  for (const [i, item] of items.entries()) {
    const group = findResource(state, 'group', item.id);
    if (!group) {
      return refuse('validationError', `group ${item.id} not found in this organization`, `items[${i}].id`);
    }
    const { id, name, memberIds, revision: current } = group;
    found.push({ id, revision: current, name, members: membersOf(state, memberIds).map(toMemberSummary) });
  }
  return accept(found);
}
