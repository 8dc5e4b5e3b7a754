import { z } from 'zod';
import { memberType, registeredAt, walletKind } from '../contract/members';
import { address, itemsOf, nameInput, noDuplicates, responseOnly, timestamp } from '../contract/primitives';
import { newId } from '../db/ids';
import { insertMembers } from '../db/members';
import { setPositions } from '../db/positions';
import { accept } from '../domain/refusal';
import { quoted } from '../domain/signing';
import { walletText } from '../domain/wallet';
import { defineOperation } from './kind';
import { changeMembers, walletInput, walletInUse, walletSubject, walletWarnings } from './members';
import { sentence } from './words';

const item = z
  .strictObject({
    name: nameInput,
    walletAddress: walletInput,
    type: memberType.default('api'),
    walletKind: walletKind.default('key'),
    ...responseOnly({ registeredAt, createdAt: timestamp, updatedAt: timestamp }),
  })
  .meta({ id: 'NewMember' })
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
  items: z.array(z.object({ name: z.string(), walletAddress: address, type: memberType, walletKind })),
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

  async plan(context, { items }, notes) {
    const taken = await walletInUse(context, items);
    if (taken) return taken;
    const wallets = items.map(({ walletAddress }) => walletSubject(walletAddress));
    return accept({
      data: { items },
      plan: { memberIds: items.map(() => newId('mem')) },
      summary: sentence(
        'Add',
        'member',
        items.map((member) => `${quoted(member.name)} (${member.type}, ${walletText(member)})`),
      ),
      claims: wallets,
      names: wallets,
      notes,
    });
  },

  async apply(context, { id: proposalId, data: { items }, plan: { memberIds } }) {
    const { tx, organizationId } = context;
    const taken = await walletInUse(context, items);
    if (taken) return taken;
    const members = items.map((item, index) => {
      const id = memberIds[index];
      if (id === undefined) throw new Error(`proposal ${proposalId} has no member id for item ${index}`);
      return { ...item, id };
    });
    const changed = await changeMembers(tx, (savepoint) => insertMembers(savepoint, organizationId, members));
    if (!changed.ok) return changed;
    return accept({
      resources: members.map(({ id }) => ({ type: 'member' as const, id, uri: `/api/v1/members/${id}` })),
      audit: members.map(({ id, ...after }) => ({
        action: 'member.created',
        resourceType: 'member',
        resourceId: id,
        details: { after, proposalId },
      })),
      notices: members.map(({ id, name, walletAddress }) => ({
        subject: walletSubject(walletAddress),
        code: 'walletTaken',
        message: `${walletAddress} is now the wallet of member ${quoted(name)} (${id})`,
      })),
      setPositions: (positions) => setPositions(tx, 'members', memberIds, positions),
    });
  },
});
