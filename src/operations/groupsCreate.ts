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
import { newId } from '../db/ids';
import { expectNew, findResource, membersOf } from '../domain/governance';
import { accept, refuse } from '../domain/refusal';
import { quotedNewName } from '../domain/summary';
import { groupsSummary, withMembers } from './groups';
import { defineOperation } from './kind';
import { unknownMember } from './members';

const item = z
  .strictObject({
    name: nameInput,
    memberIds: uniqueList(idOf('mem'), (id) => id),
    ...responseOnly({ members: z.array(memberSummary), createdAt: timestamp, updatedAt: timestamp }),
  })
  .meta({ id: 'GroupInput' })
  .transform(({ name, memberIds }) => ({ name, memberIds }));

/** The same group a second time; of equal names alone the state of the organization decides. */
const contentOf = ({ name, memberIds }: z.output<typeof item>) =>
  JSON.stringify([name, [...memberIds].sort()]);

export const groupsCreateBody = z.strictObject({ items: itemsOf(item).check(noDuplicates(contentOf)) });

const data = z.object({
  items: z.array(z.object({ id: idOf('grp'), name: z.string(), memberIds: z.array(idOf('mem')) })),
});

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

  async plan({ state }, { items }) {
    for (const [i, item] of items.entries()) {
      const unknown = unknownMember(state, item.memberIds, (j) => `items[${i}].memberIds[${j}]`);
      if (unknown) return unknown;
    }
    const memberIds = [...new Set(items.flatMap((item) => item.memberIds))];
    return accept({
      data: { items: items.map((item) => ({ id: newId('grp'), ...item })) },
      claims: [],
      names: memberIds.map((id) => `member:${id}`),
    });
  },

  change(state, { items }) {
    const taken = expectNew(
      state,
      'group',
      items.map(({ id }) => id),
    );
    if (taken) return taken;
    const memberIds = items.flatMap((item) => item.memberIds);
    const gone = memberIds.find((id) => !findResource(state, 'member', id));
    if (gone !== undefined) return refuse('conflict', `member ${gone} has left the organization`);
    return accept(
      items.map(({ id, name, memberIds }) => ({
        type: 'group',
        id,
        after: { id, name, memberIds: [...memberIds].sort() },
      })),
    );
  },

  summary({ state }, { items }) {
    const described = items.map((item) => withMembers(quotedNewName(item), membersOf(state, item.memberIds)));
    return groupsSummary('Create', described);
  },
});
