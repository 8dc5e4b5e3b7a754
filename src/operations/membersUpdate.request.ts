import { type MemberChange, membersUpdateBody } from '../contract/memberChanges';
import { isSameAddress } from '../domain/address';
import { findResource, type MemberState } from '../domain/governance';
import { accept, type Result, refuse } from '../domain/refusal';
import type { WalletKind } from '../domain/wallet';
import { defineOperation } from './kind';
import { walletInUse } from './members';
import { unknownMember, walletSubject } from './members.request';
import { membersUpdate } from './membersUpdate';

/** What changes about one member. */
interface Change {
  readonly name?: string;
  readonly walletAddress?: string;
  readonly walletKind?: WalletKind;
}

/** What an item changes about a member. Refuses another type, and an empty change. */
function planChange(
  member: MemberState,
  { name, walletAddress, walletKind: kind, type }: MemberChange,
  field: string,
): Result<Change> {
  if (type !== undefined && type !== member.type) {
    return refuse(
      'validationError',
      `the type of member ${member.id} is ${member.type} and cannot change`,
      `${field}.type`,
    );
  }
  const moves = walletAddress !== undefined && !isSameAddress(walletAddress, member.walletAddress);
  const change: Change = {
    ...(name === undefined || name === member.name ? {} : { name }),
    ...(moves ? { walletAddress } : {}),
    ...(kind === undefined || kind === member.walletKind ? {} : { walletKind: kind }),
  };
  if (Object.keys(change).length > 0) return accept(change);
  return refuse('validationError', `nothing about member ${member.id} would change`, field);
}

/** How it is proposed. */
export const membersUpdateRequest = defineOperation(membersUpdate, {
  requests: [
    {
      id: 'proposeMembersUpdate',
      path: '/members/proposals/update',
      summary: 'Propose changes of members',
      description:
        'With a new wallet, or another kind of it, earlier signatures no longer count, and control must be proved again.',
      body: membersUpdateBody,
      exampleBody: {
        items: [
          {
            id: 'mem_01jz8k3v5fe5ht0n2m6w9r4xyz',
            name: 'Dave',
            walletAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
          },
        ],
      },
    },
  ],

  async plan({ state }, { items }) {
    const ids = items.map(({ id }) => id);
    const taken = unknownMember(state, ids, (i) => `items[${i}].id`) ?? walletInUse(state, items);
    if (taken) return taken;
    const planned: { member: MemberState; change: Change }[] = [];
    for (const [i, item] of items.entries()) {
      const member = findResource(state, 'member', item.id);
      if (!member) throw new Error(`member ${item.id} was found a moment ago`);
      const change = planChange(member, item, `items[${i}]`);
      if (!change.ok) return change;
      planned.push({ member, change: change.value });
    }
    const wallets = planned.flatMap(({ change: { walletAddress } }) =>
      walletAddress === undefined ? [] : walletSubject(walletAddress),
    );
    const subjects = [...ids.map((id) => `member:${id}`), ...wallets];
    return accept({
      data: {
        items: planned.map(({ member: { type: _, ...member }, change }) => ({ ...member, ...change })),
      },
      claims: subjects,
      mentions: subjects,
    });
  },

  wallets({ members }, { items }) {
    const stated = items.filter((item) => (item.walletAddress ?? item.walletKind) !== undefined);
    return stated.flatMap((item) => {
      const member = members[item.id];
      return member ? [{ ...member, ...item }] : [];
    });
  },
});
