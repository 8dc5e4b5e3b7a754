import { z } from 'zod';
import { memberSummary } from '../contract/members';
import { idOf, MAX_ITEMS } from '../contract/primitives';
import type { Group } from '../db/groups';
import type { MemberSummary } from '../domain/approval';
import { refuse } from '../domain/refusal';
import { quoted } from '../domain/signing';
import { describeMembers } from './members';

/** Groups in the data of a proposal: as they will be, or as they were. */
export const groupsData = z
  .object({
    items: z.array(
      z
        .object({ id: idOf('grp'), name: z.string(), members: z.array(memberSummary) })
        .meta({ id: 'ProposedGroup', description: 'A group in a proposal.' }),
    ),
  })
  .meta({ id: 'GroupsData' });

/** An unambiguous description of a group: `"Traders" (grp_…)`. */
export function describeGroup({ id, name }: Pick<Group, 'id' | 'name'>): string {
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

/** Refuses the first item whose group does not exist. */
export function unknownGroup(groups: readonly Group[], items: readonly { readonly id: string }[]) {
  const known = new Set(groups.map(({ id }) => id));
  const index = items.findIndex(({ id }) => !known.has(id));
  if (index < 0) return undefined;
  return refuse(
    'validationError',
    `group ${items[index]?.id} not found in this organization`,
    `items[${index}].id`,
  );
}
