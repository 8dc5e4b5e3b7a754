import { z } from 'zod';
import { memberSummary as memberSummarySchema } from '../contract/members';
import { idOf, MAX_ITEMS, revision } from '../contract/primitives';
import { type MemberSummary, memberSummary } from '../domain/approval';
import { findResource, type GroupState, membersOf, type OrganizationState } from '../domain/governance';
import { quoted } from '../domain/quoted';
import { accept, refuse } from '../domain/refusal';
import { describeMembers } from './members';

/** Groups in the data of a proposal: as they will be, or as they were. */
export const groupsData = z
  .object({
    items: z.array(
      z
        .object({ id: idOf('grp'), revision, name: z.string(), members: z.array(memberSummarySchema) })
        .meta({ id: 'ProposedGroup', description: 'A group in a proposal.' }),
    ),
  })
  .meta({ id: 'GroupsData' });

/** An unambiguous description of a group: `"Traders" (grp_…)`. */
export function describeGroup({ id, name }: Pick<GroupState, 'id' | 'name'>): string {
  return `${quoted(name)} (${id})`;
}

/** Whether a summary names the members; with more than 100 it gives their number, and `data` names them all. */
export function areNamed(lists: readonly (readonly unknown[])[]): boolean {
  return lists.flat().length <= MAX_ITEMS;
}

/** Its members as text: `with "Dave" (0x…)`, `without members`; `with 37 members` when they are not named. */
export function describeMembership(members: readonly MemberSummary[], named: boolean): string {
  return members.length === 0 ? 'without members' : `with ${describeMembers(members, named)}`;
}

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
    found.push({ id, revision: current, name, members: membersOf(state, memberIds).map(memberSummary) });
  }
  return accept(found);
}
