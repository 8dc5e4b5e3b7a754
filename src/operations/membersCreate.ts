import { z } from 'zod';
import { expectNew } from '../domain/governance';
import { accept } from '../domain/refusal';
import { address, idOf, memberType, walletKind } from '../domain/schemas';
import { quotedName } from '../domain/summary';
import { walletText } from '../domain/wallet';
import { walletInUse } from './members';
import { defineRule } from './rule';
import { operationSummary } from './words';

const data = z.object({
  items: z.array(
    z.object({ id: idOf('mem'), name: z.string(), walletAddress: address, type: memberType, walletKind }),
  ),
});

/** New members. */
export const membersCreate = defineRule({
  resourceType: 'members',
  action: 'create',
  data,

  change(state, { items }) {
    const ids = items.map(({ id }) => id);
    const taken = expectNew(state, 'member', ids) ?? walletInUse(state, items);
    if (taken) return taken;
    return accept(items.map((member) => ({ type: 'member', id: member.id, after: member })));
  },

  summary: (_, { items }) =>
    operationSummary(
      'Add',
      'member',
      items.map((member) => [`${quotedName(member.name)} (${member.type}, ${walletText(member)})`]),
    ),
});
