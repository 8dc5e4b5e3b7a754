import { z } from 'zod';
import { expectNew, findResource, membersOf } from '../domain/governance';
import { accept, refuse } from '../domain/refusal';
import { idOf } from '../domain/schemas';
import { quotedNewName } from '../domain/summary';
import { groupsSummary, withMembers } from './groups';
import { defineRule } from './rule';

const data = z.object({
  items: z.array(z.object({ id: idOf('grp'), name: z.string(), memberIds: z.array(idOf('mem')) })),
});

/** New groups of members. */
export const groupsCreate = defineRule({
  resourceType: 'groups',
  action: 'create',
  data,

  change(state, { items }) {
    const taken = expectNew(
      state,
      'group',
      items.map(({ id }) => id),
    );
    if (taken) return taken;
    const memberIds = items.flatMap((item) => item.memberIds);
    const removed = memberIds.find((id) => !findResource(state, 'member', id));
    if (removed !== undefined) return refuse('conflict', `member ${removed} has left the organization`);
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
