import { z } from 'zod';
import { type Edit, expectRevision, membersOf, type OrganizationState } from '../domain/governance';
import { accept, refuse } from '../domain/refusal';
import { memberSummary as memberSummarySchema } from '../domain/schemas';
import { describeMember, membersDiffer } from './members';
import { defineRule } from './rule';
import { operationSummary } from './words';

const data = z.object({ items: z.array(memberSummarySchema) });

/** Refuses the first of them who is an admin. */
export function isAdmin({ admins }: OrganizationState, ids: readonly string[]) {
  const index = ids.findIndex((id) => admins.memberIds.includes(id));
  if (index < 0) return undefined;
  return refuse(
    'conflict',
    `member ${ids[index]} is an admin: first change the admins, then remove the member`,
    `ids[${index}]`,
  );
}

/** The groups without them. */
function leavingGroups({ groups }: OrganizationState, ids: readonly string[]): Edit[] {
  return Object.values(groups)
    .filter(({ memberIds }) => memberIds.some((id) => ids.includes(id)))
    .map(({ id, name, memberIds }) => ({
      type: 'group',
      id,
      after: { id, name, memberIds: memberIds.filter((memberId) => !ids.includes(memberId)) },
    }));
}

/** Removes members from the organization and from every group. Their ids are not reused. */
export const membersRemove = defineRule({
  resourceType: 'members',
  action: 'remove',
  data,

  change(state, { items }) {
    const difference = membersDiffer(state, items);
    if (difference !== undefined) return refuse('conflict', difference);
    for (const { revision = -1, ...item } of items) {
      const signed = { id: item.id, revision };
      const member = expectRevision(state, 'member', signed, `member ${describeMember(item)}`);
      if (!member.ok) return member;
    }
    const ids = items.map(({ id }) => id);
    const removed = ids.map((id): Edit => ({ type: 'member', id, after: null }));
    return isAdmin(state, ids) ?? accept([...removed, ...leavingGroups(state, ids)]);
  },

  summary({ state }, { items }) {
    const members = membersOf(
      state,
      items.map(({ id }) => id),
    );
    return operationSummary(
      'Remove',
      'member',
      members.map((member) => [describeMember(member)]),
    );
  },
});
