import { z } from 'zod';
import { memberType, registeredAt, walletKind } from '../contract/members';
import {
  address,
  idOf,
  itemsOf,
  nameInput,
  noDuplicates,
  responseOnly,
  timestamp,
} from '../contract/primitives';
import { newId } from '../db/ids';
import { expectNew } from '../domain/governance';
import { accept } from '../domain/refusal';
import { quotedName } from '../domain/summary';
import { walletText } from '../domain/wallet';
import { defineOperation } from './kind';
import { walletInput, walletInUse, walletSubject, walletWarnings } from './members';
import { operationSummary } from './words';

const item = z
  .strictObject({
    name: nameInput,
    walletAddress: walletInput,
    type: memberType.default('api'),
    walletKind: walletKind.default('key'),
    ...responseOnly({ registeredAt, createdAt: timestamp, updatedAt: timestamp }),
  })
  .meta({ id: 'MemberInput' })
  .transform(({ name, walletAddress, type, walletKind: kind }) => ({
    name,
    walletAddress,
    type,
    walletKind: kind,
  }));

export const membersCreateBody = z.strictObject({
  items: itemsOf(item).check(noDuplicates(({ walletAddress }) => walletAddress, ['walletAddress'])),
});

const data = z.object({
  items: z.array(
    z.object({ id: idOf('mem'), name: z.string(), walletAddress: address, type: memberType, walletKind }),
  ),
});

/** New members. */
export const membersCreate = defineOperation({
  resourceType: 'members',
  action: 'create',
  requests: [
    {
      id: 'proposeMembersCreate',
      path: '/members/proposals/create',
      summary: 'Propose new members',
      description: 'A member has a wallet that no other member of the organization has.',
      body: membersCreateBody,
      exampleBody: {
        items: [{ name: 'Dave', walletAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', type: 'user' }],
      },
    },
  ],
  data,

  async observe(outside, { items }) {
    return accept(await walletWarnings(outside, items));
  },

  async plan({ state }, { items }, notes) {
    const taken = walletInUse(state, items);
    if (taken) return taken;
    const wallets = items.map(({ walletAddress }) => walletSubject(walletAddress));
    return accept({
      data: { items: items.map((item) => ({ id: newId('mem'), ...item })) },
      claims: wallets,
      names: wallets,
      notes,
    });
  },

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
