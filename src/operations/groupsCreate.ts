import { z } from 'zod';
import { memberSummary } from '../contract/members';
import {
  idOf,
  itemsOf,
  nameInput,
  noDuplicates,
  responseOnly,
  timestamp,
  uniqueList,
} from '../contract/primitives';
import { insertGroups } from '../db/groups';
import { newId } from '../db/ids';
import { findMembers } from '../db/members';
import { setPositions } from '../db/positions';
import { accept, refuse } from '../domain/refusal';
import { quoted } from '../domain/signing';
import { areNamed, describeMembership } from './groups';
import { defineOperation } from './kind';
import { unknownMember } from './members';
import { sentence } from './words';

const item = z
  .strictObject({
    name: nameInput,
    memberIds: uniqueList(idOf('mem'), (id) => id),
    ...responseOnly({ members: z.array(memberSummary), createdAt: timestamp, updatedAt: timestamp }),
  })
  .meta({ id: 'NewGroup' })
  .transform(({ name, memberIds }) => ({ name, memberIds }));

/** Two groups may share a name, but not name and members. */
const contentOf = ({ name, memberIds }: z.output<typeof item>) =>
  JSON.stringify([name, [...memberIds].sort()]);

export const groupsCreateBody = z.strictObject({ items: itemsOf(item).check(noDuplicates(contentOf)) });

const data = z.object({ items: z.array(z.object({ name: z.string(), memberIds: z.array(idOf('mem')) })) });

/** New groups of members. */
export const groupsCreate = defineOperation({
  resourceType: 'groups',
  action: 'create',
  requests: [
    {
      id: 'proposeGroupsCreate',
      path: '/groups/proposals/create',
      summary: 'Propose new groups',
      description: 'A group may be empty, and has 100 members at most.',
      body: groupsCreateBody,
      exampleBody: { items: [{ name: 'Traders', memberIds: ['mem_01jz8k3v5fe5ht0n2m6w9r4xyz'] }] },
    },
  ],
  data,

  async plan({ tx, organizationId }, { items }) {
    const memberIds = [...new Set(items.flatMap((item) => item.memberIds))];
    const members = await findMembers(tx, organizationId, memberIds);
    for (const [i, item] of items.entries()) {
      const unknown = unknownMember(members, item.memberIds, (j) => `items[${i}].memberIds[${j}]`);
      if (unknown) return unknown;
    }
    const named = areNamed(items.map((item) => item.memberIds));
    return accept({
      data: { items },
      plan: { groupIds: items.map(() => newId('grp')) },
      summary: sentence(
        'Create',
        'group',
        items.map((item) => {
          const own = members.filter(({ id }) => item.memberIds.includes(id));
          return `${quoted(item.name)} ${describeMembership(own, named)}`;
        }),
        '; ',
      ),
      claims: [],
      names: memberIds.map((id) => `member:${id}`),
    });
  },

  async apply({ tx, organizationId }, { id: proposalId, data: { items }, plan: { groupIds } }) {
    const memberIds = [...new Set(items.flatMap((item) => item.memberIds))];
    const members = new Set((await findMembers(tx, organizationId, memberIds)).map(({ id }) => id));
    const gone = memberIds.find((id) => !members.has(id));
    if (gone !== undefined) {
      return refuse('conflict', `member ${gone} has left the organization`);
    }
    const groups = items.map((item, index) => {
      const id = groupIds[index];
      if (id === undefined) throw new Error(`proposal ${proposalId} has no group id for item ${index}`);
      return { ...item, id };
    });
    await insertGroups(tx, organizationId, groups);
    return accept({
      resources: groups.map(({ id }) => ({ type: 'group' as const, id, uri: `/api/v1/groups/${id}` })),
      audit: groups.map(({ id, ...after }) => ({
        action: 'group.created',
        resourceType: 'group',
        resourceId: id,
        details: { after, proposalId },
      })),
      setPositions: (positions) => setPositions(tx, 'groups', groupIds, positions),
    });
  },
});
