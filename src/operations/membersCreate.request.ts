import { membersCreateBody } from '../contract/memberChanges';
import { newId } from '../db/ids';
import { accept } from '../domain/refusal';
import { defineOperation } from './kind';
import { walletInUse } from './members';
import { walletSubject } from './members.request';
import { membersCreate } from './membersCreate';

/** How it is proposed. */
export const membersCreateRequest = defineOperation(membersCreate, {
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

  async plan({ state }, { items }) {
    const taken = walletInUse(state, items);
    if (taken) return taken;
    const wallets = items.map(({ walletAddress }) => walletSubject(walletAddress));
    return accept({
      data: { items: items.map((item) => ({ id: newId('mem'), ...item })) },
      claims: wallets,
      mentions: wallets,
    });
  },

  wallets: (_, { items }) => items,
});
