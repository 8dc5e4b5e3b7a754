import { checksumAddress } from '../chain/address';
import { nonzeroAddressInput } from '../contract/primitives';
import type { Tx } from '../db/database';
import { findMembersByWallet } from '../db/members';
import { isSameAddress } from '../domain/address';
import type { MemberSummary } from '../domain/approval';
import { accept, type Outcome, refuse } from '../domain/refusal';
import { quoted } from '../domain/signing';
import { isSameWallet, type Wallet, walletText, walletWarning } from '../domain/wallet';
import type { KindContext, Outside, Plan } from './kind';
import { listed } from './words';

/** The wallet of a member in a request, read with its checksum (EIP-55). */
export const walletInput = nonzeroAddressInput.transform(checksumAddress);

/** The claim on the new wallet of a member. */
export function walletSubject(walletAddress: string): string {
  return `wallet:${walletAddress.toLowerCase()}`;
}

/** Members as text: `"Dave" (0x…), "Erin" (0x…)`; only their number when they are not named. */
export function describeMembers(members: readonly MemberSummary[], named = true): string {
  if (!named) return `${members.length} member${members.length === 1 ? '' : 's'}`;
  return members.map((member) => `${quoted(member.name)} (${walletText(member)})`).join(', ');
}

/** An unambiguous description of a member: `"Dave" (mem_…, 0x…)`. */
export function describeMember(
  member: Pick<MemberSummary, 'id' | 'name' | 'walletAddress' | 'walletKind'>,
): string {
  return `${quoted(member.name)} (${member.id}, ${walletText(member)})`;
}

/** Refuses the first id that belongs to no member of the organization; `fieldOf` gives its field. */
export function unknownMember(
  members: readonly { readonly id: string }[],
  ids: readonly string[],
  fieldOf: (index: number) => string,
) {
  const known = new Set(members.map(({ id }) => id));
  const index = ids.findIndex((id) => !known.has(id));
  return index < 0
    ? undefined
    : refuse('validationError', `member ${ids[index]} not found in this organization`, fieldOf(index));
}

/**
 * Refuses the first wallet that another member has and keeps; `id` is the member who gets it, if that member exists
 * already. Members may exchange wallets among themselves.
 */
export async function walletInUse(
  { tx, organizationId }: KindContext,
  items: readonly { readonly id?: string; readonly walletAddress?: string | undefined }[],
) {
  const addresses = items.flatMap(({ walletAddress }) => walletAddress ?? []);
  const holders = await findMembersByWallet(tx, organizationId, addresses);
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

/** What the chain says against the stated kinds of wallets, each once. */
export async function walletWarnings(
  { readWalletCode }: Pick<Outside, 'readWalletCode'>,
  wallets: readonly Wallet[],
): Promise<NonNullable<Plan<unknown, unknown>['notes']>> {
  const warnings = await Promise.all(
    wallets.map(async (wallet) => walletWarning(wallet, await readWalletCode(wallet.walletAddress))),
  );
  return warnings.filter((warning) => warning !== undefined);
}

/**
 * How members differ from what a proposal shows; undefined when all of them are members with the same wallet. Names may
 * have changed.
 */
export function membersDiffer(
  shown: readonly MemberSummary[],
  members: readonly MemberSummary[],
): string | undefined {
  const differences = shown.flatMap((signed) => {
    const member = members.find(({ id }) => id === signed.id);
    if (!member) return [`member ${describeMember(signed)} has left the organization`];
    if (isSameWallet(member, signed)) return [];
    return [
      `member ${quoted(member.name)} (${member.id}) now has the wallet ${walletText(member)}, not ${walletText(signed)}`,
    ];
  });
  return differences.length === 0 ? undefined : listed(differences, '; ');
}

/** Changes members. Refuses, without a change, when another transaction has given one of the wallets to a member. */
export async function changeMembers(
  tx: Tx,
  change: (savepoint: Tx) => Promise<unknown>,
): Promise<Outcome<null>> {
  try {
    await tx.transaction(change);
    return accept(null);
  } catch (error) {
    if ((error as { constraint?: string }).constraint !== 'members_wallet_address') throw error;
    return refuse('conflict', 'another member now has one of the wallets');
  }
}
