import { z } from 'zod';
import { memberSummary } from '../contract/members';
import { idOf, itemsOf, noDuplicates, responseOnly, timestamp } from '../contract/primitives';
import { type Edit, expectRevision, findResource, membersOf } from '../domain/governance';
import { accept, refuse } from '../domain/refusal';
import { describeGroup, groupsData, groupsSummary, groupsWithMembers, withMembers } from './groups';
import { defineOperation } from './kind';
import { membersDiffer } from './members';

const item = z
  .strictObject({
    id: idOf('grp'),
    ...responseOnly({
      name: z.string(),
      members: z.array(memberSummary),
      createdAt: timestamp,
      updatedAt: timestamp,
    }),
  })
  .meta({ id: 'GroupToDelete' })
  .transform(({ id }) => ({ id }));

export const groupsDeleteBody = z.strictObject({
  items: itemsOf(item).check(noDuplicates(({ id }) => id, ['id'])),
});

/** Deletes groups. Their members remain members. */
export const groupsDelete = defineOperation({
  resourceType: 'groups',
  action: 'delete',
  requests: [
    {
      id: 'proposeGroupsDelete',
      path: '/groups/proposals/delete',
      summary: 'Propose the deletion of groups',
      description:
        'Their members stay members. A policy that needs a deleted group can no longer be satisfied.',
      body: groupsDeleteBody,
      exampleBody: { items: [{ id: 'grp_01jz8k3v5fe5ht0n2m6w9r4xyz' }] },
    },
  ],
  data: groupsData,

  async plan({ state }, { items }) {
    const found = groupsWithMembers(state, items);
    if (!found.ok) return found;
    const doomed = found.value;
    const subjects = items.map(({ id }) => `group:${id}`);
    return accept({
      data: { items: doomed.map((group) => ({ ...group, members: [...group.members] })) },
      claims: subjects,
      names: subjects,
    });
  },

  change(state, { items }) {
    const edits: Edit[] = [];
    for (const item of items) {
      const group = expectRevision(state, 'group', item, `group ${describeGroup(item)}`);
      if (!group.ok) return group;
      const difference = membersDiffer(state, item.members);
      if (difference !== undefined) return refuse('conflict', difference);
      const { name, memberIds } = group.value;
      const shownIds = item.members.map(({ id }) => id).sort();
      if (item.name !== name || shownIds.join() !== memberIds.join()) {
        return refuse('conflict', `group ${describeGroup(item)} is not as it is shown`);
      }
      edits.push({ type: 'group', id: item.id, after: null });
    }
    return accept(edits);
  },

  summary({ state }, { items }) {
    const groups = items.flatMap(({ id }) => findResource(state, 'group', id) ?? []);
    const described = groups.map((group) =>
      withMembers(describeGroup(group), membersOf(state, group.memberIds)),
    );
    return groupsSummary('Delete', described);
  },
});
