import { checksumAddress, isZeroAddress, sameAddress } from '../chain/address';
import { addressInput } from '../contract/primitives';
import type { Tx } from '../db/database';
import { findMembersByWallet } from '../db/members';
import type { MemberSummary } from '../domain/proposal';
import { accept, type Outcome, refuse } from '../domain/refusal';
import { quoted } from '../domain/signing';
import type { KindContext } from './kind';
import { listed } from './words';

/** The wallet of a member in a request, read as EIP-55 writes it. */
export const walletInput = addressInput(checksumAddress)
  .refine((text) => !isZeroAddress(text), 'must not be the zero address')
  .transform(checksumAddress)
  .meta({
    description: 'All lower case, all upper case or with its checksum (EIP-55); not the zero address.',
  });

/** The claim on a wallet that a member is to have. */
export function walletSubject(walletAddress: string): string {
  return `wallet:${walletAddress.toLowerCase()}`;
}

/** Members in words: `"Dave" (0x…), "Erin" (0x…)`; only how many they are when they are not to be named. */
export function describeMembers(members: readonly MemberSummary[], named = true): string {
  if (!named) return `${members.length} member${members.length === 1 ? '' : 's'}`;
  return members.map(({ name, walletAddress }) => `${quoted(name)} (${walletAddress})`).join(', ');
}

/** A member in words that leave no doubt which: `"Dave" (mem_…, 0x…)`. */
export function describeMember({
  id,
  name,
  walletAddress,
}: Pick<MemberSummary, 'id' | 'name' | 'walletAddress'>): string {
  return `${quoted(name)} (${id}, ${walletAddress})`;
}

/** Refuses the first id that is no member's; `fieldOf` tells its field. */
export function unknownMember(
  members: readonly { readonly id: string }[],
  ids: readonly string[],
  fieldOf: (index: number) => string,
) {
  const known = new Set(members.map(({ id }) => id));
  const index = ids.findIndex((id) => !known.has(id));
  return index < 0
    ? undefined
    : refuse('validationError', `there is no member ${ids[index]}`, fieldOf(index));
}

/** Refuses the first wallet that another member has; `id` is whose wallet it is to be, if that one is there already. */
export async function walletInUse(
  { tx, organizationId }: KindContext,
  items: readonly { readonly id?: string; readonly walletAddress?: string | undefined }[],
) {
  const addresses = items.flatMap(({ walletAddress }) => walletAddress ?? []);
  const holders = await findMembersByWallet(tx, organizationId, addresses);
  for (const [i, { id, walletAddress }] of items.entries()) {
    if (walletAddress === undefined) continue;
    const holder = holders.find((member) => sameAddress(member.walletAddress, walletAddress));
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

/**
 * What is no longer so about members that a proposal shows, in words; undefined when all of them are there with the
 * wallet that it says. Names may have changed.
 */
export function membersDiffer(
  shown: readonly MemberSummary[],
  members: readonly MemberSummary[],
): string | undefined {
  const differences = shown.flatMap((said) => {
    const member = members.find(({ id }) => id === said.id);
    if (!member) return [`member ${describeMember(said)} is no longer a member of the organization`];
    if (sameAddress(member.walletAddress, said.walletAddress)) return [];
    return [
      `member ${quoted(member.name)} (${member.id}) now has the wallet ${member.walletAddress}, not ${said.walletAddress}`,
    ];
  });
  return differences.length === 0 ? undefined : listed(differences, '; ');
}

/**
 * Changes members. Refuses, with nothing changed, when a wallet turns out to be another member's although nobody was
 * seen to have it.
 */
export async function changeMembers(
  tx: Tx,
  change: (savepoint: Tx) => Promise<unknown>,
): Promise<Outcome<null>> {
  try {
    await tx.transaction(change);
    return accept(null);
  } catch (error) {
    if ((error as { constraint?: string }).constraint !== 'members_wallet_address') throw error;
    return refuse('conflict', 'one of the wallets has become the wallet of another member');
  }
}
