import { isSameAddress } from '../domain/address';
import { type MemberSummary, toMemberSummary } from '../domain/approval';
import { canonicalJson } from '../domain/canonicalJson';
import { findResource, type OrganizationState } from '../domain/governance';
import { quoted } from '../domain/quoted';
import { refuse } from '../domain/refusal';
import { quotedName } from '../domain/summary';
import { isSameWallet, walletText } from '../domain/wallet';
import { listed } from './words';

/** Members as text: `"Dave" (0x…)`, `"Erin" (0x…)`. */
export function describeMembers(members: readonly MemberSummary[]): string[] {
  return members.map((member) => `${quotedName(member.name)} (${walletText(member)})`);
}

/** An unambiguous description of a member: `"Dave" (mem_…, 0x…)`. */
export function describeMember(
  member: Pick<MemberSummary, 'id' | 'name' | 'walletAddress' | 'walletKind'>,
): string {
  return `${quotedName(member.name)} (${member.id}, ${walletText(member)})`;
}

/**
 * Refuses the first wallet that another member has and keeps; `id` is the member who gets it, if that member exists
 * already. Members may exchange wallets among themselves.
 */
export function walletInUse(
  { members }: OrganizationState,
  items: readonly { readonly id?: string; readonly walletAddress?: string | undefined }[],
) {
  const addresses = new Set(items.flatMap(({ walletAddress }) => walletAddress?.toLowerCase() ?? []));
  const holders = Object.values(members).filter((member) =>
    addresses.has(member.walletAddress.toLowerCase()),
  );
  const kept = holders.filter((holder) => {
    const next = items.find(({ id }) => id === holder.id)?.walletAddress;
    return next === undefined || isSameAddress(next, holder.walletAddress);
  });
  for (const [i, { id, walletAddress }] of items.entries()) {
    const holder = kept.find((member) => walletAddress && isSameAddress(member.walletAddress, walletAddress));
    if (holder && holder.id !== id) {
      return refuse(
        'conflict',
        `${walletAddress} is the wallet of member ${quoted(holder.name)} (${holder.id})`,
        `items[${i}].walletAddress`,
      );
    }
  }
  return undefined;
}

/** How members differ from what a proposal shows of them; undefined when all of them are members, and exactly so. */
export function membersDiffer(
  state: OrganizationState,
  shown: readonly (MemberSummary & { readonly revision?: number | undefined })[],
): string | undefined {
  const differences = shown.flatMap((signed) => {
    const member = findResource(state, 'member', signed.id);
    if (!member) return [`member ${describeMember(signed)} has left the organization`];
    const { revision: _, ...summary } = signed;
    if (canonicalJson(toMemberSummary(member)) === canonicalJson(summary)) return [];
    const who = `member ${quoted(member.name)} (${member.id})`;
    return isSameWallet(member, signed)
      ? [`${who}, of type ${member.type}, is shown as ${quoted(signed.name)}, of type ${signed.type}`]
      : [`${who} now has the wallet ${walletText(member)}, not ${walletText(signed)}`];
  });
  return differences.length === 0 ? undefined : listed(differences, '; ');
}
