import { type Edit, expectRevision, findResource, membersOf } from '../domain/governance';
import { accept, refuse } from '../domain/refusal';
import { describeGroup, groupsData, groupsSummary, withMembers } from './groups';
import { membersDiffer } from './members';
import { defineRule } from './rule';

/** Deletes groups. Their members remain members. */
export const groupsDelete = defineRule({
  resourceType: 'groups',
  action: 'delete',
  data: groupsData,

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
