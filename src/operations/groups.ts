import { z } from 'zod';
import { memberSummary } from '../contract/members';
import type { Group } from '../db/groups';
import type { MemberSummary } from '../domain/proposal';
import { refuse } from '../domain/refusal';
import { quoted } from '../domain/signing';
import { describeMembers } from './members';

/** Groups in the data of a proposal: as they will be, or as they were. */
export const groupsData = z.object({
  items: z.array(z.object({ id: z.string(), name: z.string(), members: z.array(memberSummary) })),
});

/** A group in words that leave no doubt which: `"Traders" (grp_…)`. */
export function describeGroup({ id, name }: Pick<Group, 'id' | 'name'>): string {
  return `${quoted(name)} (${id})`;
}

/** Its members in words: `with "Dave" (0x…)`, `without members`. */
export function describeMembership(members: readonly MemberSummary[]): string {
  return members.length === 0 ? 'without members' : `with ${describeMembers(members)}`;
}

/** Refuses the first item whose group does not exist. */
export function unknownGroup(groups: readonly Group[], items: readonly { readonly id: string }[]) {
  const known = new Set(groups.map(({ id }) => id));
  const index = items.findIndex(({ id }) => !known.has(id));
  if (index < 0) return undefined;
  return refuse('validationError', `there is no group ${items[index]?.id}`, `items[${index}].id`);
}
