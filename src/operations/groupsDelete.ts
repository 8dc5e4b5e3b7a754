import { z } from 'zod';
import { memberSummary } from '../contract/members';
import { idOf, itemsOf, noDuplicates, responseOnly, timestamp } from '../contract/primitives';
import { deleteGroups, findGroups } from '../db/groups';
import { accept, refuse } from '../domain/refusal';
import { areNamed, describeGroup, describeMembership, groupsData, unknownGroup } from './groups';
import { defineOperation } from './kind';
import { describeMembers } from './members';
import { sentence } from './words';

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

  async plan({ tx, organizationId }, { items }) {
    const groups = await findGroups(
      tx,
      organizationId,
      items.map(({ id }) => id),
    );
    const unknown = unknownGroup(groups, items);
    if (unknown) return unknown;
    const doomed = items.flatMap(({ id }) => groups.filter((group) => group.id === id));
    const named = areNamed(doomed.map(({ members }) => members));
    const subjects = items.map(({ id }) => `group:${id}`);
    return accept({
      data: { items: doomed.map(({ id, name, members }) => ({ id, name, members: [...members] })) },
      plan: {},
      summary: sentence(
        'Delete',
        'group',
        doomed.map((group) => `${describeGroup(group)} ${describeMembership(group.members, named)}`),
        '; ',
      ),
      claims: subjects,
      names: subjects,
    });
  },

  async apply({ tx, organizationId }, { id: proposalId, data: { items } }) {
    const ids = items.map(({ id }) => id);
    const groups = await findGroups(tx, organizationId, ids);
    for (const signed of items) {
      const group = groups.find(({ id }) => id === signed.id);
      if (!group) return refuse('conflict', `group ${describeGroup(signed)} no longer exists`);
      // A member who was removed since is accepted; one whom the voters did not see in it is not.
      const unseen = group.members.filter(({ id }) => !signed.members.some((member) => member.id === id));
      if (unseen.length > 0) {
        return refuse(
          'conflict',
          `group ${describeGroup(group)} now also has ${describeMembers(unseen)}: it has been changed since this was proposed`,
        );
      }
    }
    await deleteGroups(tx, ids);
    return accept({
      resources: ids.map((id) => ({ type: 'group' as const, id })),
      audit: groups.map(({ id, name, members }) => ({
        action: 'group.deleted',
        resourceType: 'group',
        resourceId: id,
        details: { before: { name, memberIds: members.map((member) => member.id) }, proposalId },
      })),
      notices: groups.map((group) => ({
        subject: `group:${group.id}`,
        code: 'groupDeleted',
        message: `group ${describeGroup(group)} has been deleted`,
      })),
    });
  },
});
