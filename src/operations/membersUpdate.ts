import { z } from 'zod';
import { isSameAddress } from '../domain/address';
import { type Edit, expectRevision, findResource, type MemberState } from '../domain/governance';
import { accept } from '../domain/refusal';
import { address, idOf, revision, walletKind } from '../domain/schemas';
import { quotedName } from '../domain/summary';
import { isSameWallet, type Wallet, walletText } from '../domain/wallet';
import { describeMember, walletInUse } from './members';
import { defineRule } from './rule';
import { operationSummary } from './words';

const data = z.object({
  items: z.array(
    z.object({ id: idOf('mem'), revision, name: z.string(), walletAddress: address, walletKind }),
  ),
});

function describeChange(member: MemberState, after: Wallet & { readonly name: string }): string {
  const { name } = after;
  const changes = [
    ...(name === member.name ? [] : [`the name to ${quotedName(name)}`]),
    ...(isSameAddress(member.walletAddress, after.walletAddress)
      ? []
      : [`the wallet to ${walletText(after)}`]),
    ...(member.walletKind === after.walletKind ? [] : [`the wallet kind to ${after.walletKind}`]),
  ];
  return `Change ${changes.join(' and ')}`;
}

/** New names or wallets for members. */
export const membersUpdate = defineRule({
  resourceType: 'members',
  action: 'update',
  data,

  change(state, { items }) {
    const edits: Edit[] = [];
    for (const { revision: signed, ...after } of items) {
      const member = expectRevision(
        state,
        'member',
        { id: after.id, revision: signed },
        `member ${describeMember(after)}`,
      );
      if (!member.ok) return member;
      edits.push({ type: 'member', id: after.id, after: { ...after, type: member.value.type } });
    }
    return walletInUse(state, items) ?? accept(edits);
  },

  summary({ state }, { items }) {
    const changes = items.flatMap((after) => {
      const member = findResource(state, 'member', after.id);
      return member ? { member, after } : [];
    });
    const described = (some: typeof changes) =>
      some.map(({ member, after }): [string, string] => [
        describeMember(member),
        describeChange(member, after),
      ]);
    // Whose wallet changes comes first: whoever has it signs for that member.
    const moved = changes.filter(({ member, after }) => !isSameWallet(member, after));
    const others = changes.filter((change) => !moved.includes(change));
    const besides = moved.length === 0 ? '' : `, ${moved.length} with another wallet`;
    return operationSummary('Update', 'member', [...described(moved), ...described(others)], besides);
  },
});
