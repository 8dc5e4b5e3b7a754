import { groupsDeleteBody } from '../contract/groupChanges';
import { accept } from '../domain/refusal';
import { groupsWithMembers } from './groups.request';
import { groupsDelete } from './groupsDelete';
import { defineOperation } from './kind';

/** How it is proposed. */
export const groupsDeleteRequest = defineOperation(groupsDelete, {
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

  async plan({ state }, { items }) {
    const found = groupsWithMembers(state, items);
    if (!found.ok) return found;
    const doomed = found.value;
    const subjects = items.map(({ id }) => `group:${id}`);
    return accept({
      data: { items: doomed.map((group) => ({ ...group, members: [...group.members] })) },
      claims: subjects,
      mentions: subjects,
    });
  },
});
