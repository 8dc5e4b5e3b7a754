import { z } from 'zod';
import { itemsOf, noDuplicates, responseOnly } from '../contract/primitives';
import { accept } from '../domain/refusal';
import { idOf, memberSummary, timestamp } from '../domain/schemas';
import { groupsWithMembers } from './groups.request';
import { groupsDelete } from './groupsDelete';
import { defineOperation } from './kind';

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
