import { groupsCreateBody } from '../contract/groupChanges';
import { newId } from '../db/ids';
import { accept } from '../domain/refusal';
import { groupsCreate } from './groupsCreate';
import { defineOperation } from './kind';
import { unknownMember } from './members.request';

/** How it is proposed. */
export const groupsCreateRequest = defineOperation(groupsCreate, {
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

  async plan({ state }, { items }) {
    for (const [i, item] of items.entries()) {
      const unknown = unknownMember(state, item.memberIds, (j) => `items[${i}].memberIds[${j}]`);
      if (unknown) return unknown;
    }
    const memberIds = [...new Set(items.flatMap((item) => item.memberIds))];
    return accept({
      data: { items: items.map((item) => ({ id: newId('grp'), ...item })) },
      claims: [],
      mentions: memberIds.map((id) => `member:${id}`),
    });
  },
});
