import type { z } from 'zod';
import type { MemberSummary } from '../domain/approval';
import {
  type Edit,
  expectRevision,
  findResource,
  type GroupState,
  membersOf,
  type OrganizationState,
} from '../domain/governance';
import { accept, refuse } from '../domain/refusal';
import { quotedName } from '../domain/summary';
import { type DescribedGroup, describeGroup, groupsData, groupsSummary } from './groups';
import { describeMembers, membersDiffer } from './members';
import { defineRule } from './rule';
import { counted } from './words';

/** What becomes of a group. */
interface Change {
  readonly before: GroupState;
  readonly name: string;
  readonly added: readonly MemberSummary[];
  readonly removed: readonly MemberSummary[];
}

/** What becomes of a group that will have these members. */
function changeTo(
  state: OrganizationState,
  { id, name, members }: z.output<typeof groupsData>['items'][number],
): Change[] {
  const before = findResource(state, 'group', id);
  if (!before) return [];
  const ids = members.map((member) => member.id);
  const without = (some: readonly string[], others: readonly string[]) =>
    membersOf(
      state,
      some.filter((memberId) => !others.includes(memberId)),
    );
  return [{ before, name, added: without(ids, before.memberIds), removed: without(before.memberIds, ids) }];
}

function describeChange({ before, name, added, removed }: Change): DescribedGroup {
  const changes = [
    ...(name === before.name ? [] : [`name it ${quotedName(name)}`]),
    ...(added.length === 0 ? [] : [`add ${counted(added.length, 'member')}`]),
    ...(removed.length === 0 ? [] : [`remove ${counted(removed.length, 'member')}`]),
  ];
  return {
    line: `${describeGroup(before)}: ${changes.join(', ')}`,
    members: [
      { verb: 'Add', texts: describeMembers(added) },
      { verb: 'Remove', texts: describeMembers(removed) },
    ],
  };
}

/** New names for groups; members to add and to remove. */
export const groupsUpdate = defineRule({
  resourceType: 'groups',
  action: 'update',
  data: groupsData,

  change(state, { items }) {
    const edits: Edit[] = [];
    for (const { id, name, members, revision } of items) {
      const difference = membersDiffer(state, members);
      if (difference !== undefined) return refuse('conflict', difference);
      const group = expectRevision(state, 'group', { id, revision }, `group ${describeGroup({ id, name })}`);
      if (!group.ok) return group;
      edits.push({
        type: 'group',
        id,
        after: { id, name, memberIds: members.map((member) => member.id).sort() },
      });
    }
    return accept(edits);
  },

  summary({ state }, { items }) {
    const changes = items.flatMap((item) => changeTo(state, item));
    return groupsSummary('Update', changes.map(describeChange));
  },
});
