import { membersRemoveBody } from '../contract/memberChanges';
import { membersOf } from '../domain/governance';
import { accept } from '../domain/refusal';
import { defineOperation } from './kind';
import { unknownMember } from './members.request';
import { isAdmin, membersRemove } from './membersRemove';

/** How it is proposed. */
export const membersRemoveRequest = defineOperation(membersRemove, {
  requests: [
    {
      id: 'proposeMembersRemove',
      path: '/members/proposals/remove',
      summary: 'Propose the removal of members',
      description: 'They leave every group, and their API keys end. An admin cannot be removed.',
      body: membersRemoveBody,
      exampleBody: { ids: ['mem_01jz8k3v5fe5ht0n2m6w9r4xyz'] },
    },
  ],

  async plan({ state }, { ids }) {
    const refused = unknownMember(state, ids, (i) => `ids[${i}]`) ?? isAdmin(state, ids);
    if (refused) return refused;
    const members = membersOf(state, ids);
    const subjects = ids.map((id) => `member:${id}`);
    return accept({
      data: { items: [...members] },
      claims: subjects,
      mentions: subjects,
    });
  },
});
