import { isSameAddress } from './address';
import { membersOf, type OrganizationState } from './governance';

/** The owners of a Safe and how many of them must sign. */
export interface Owners {
  /** Checksummed; of a Safe on chain, in the order of its list. */
  readonly owners: readonly string[];
  readonly threshold: number;
}

/** Who owns the admins' Safe on a network, or why nobody can. */
type WantedOwners =
  | ({ readonly kind: 'owners' } & Owners)
  | { readonly kind: 'impossible'; readonly reason: string };

/** A network, as far as owners depend on it. */
interface OwnersNetwork {
  readonly id: number;
  /** The network of contract wallets: SIGNER_NETWORK. */
  readonly signerNetworkId: number;
}

/** What a Safe takes for the beginning of its lists of owners and modules, and never for an owner. Source: Safe 1.4.1. */
export const SENTINEL = '0x0000000000000000000000000000000000000001';

/**
 * Who owns the admins' Safe on a network: the admins whose wallet is a key, and those with a contract wallet where that is
 * known to be theirs. The threshold is the one of the admins, never lower.
 */
export function wantedOwners(state: OrganizationState, { id, signerNetworkId }: OwnersNetwork): WantedOwners {
  const { memberIds, threshold } = state.admins;
  const admins = membersOf(state, memberIds);
  const owners = admins
    .filter(({ walletKind }) => walletKind === 'key' || id === signerNetworkId)
    .map(({ walletAddress }) => walletAddress)
    .filter((wallet) => !isSameAddress(wallet, SENTINEL));
  if (owners.length >= threshold) return { kind: 'owners', owners, threshold };
  const others = admins.length - owners.length;
  return {
    kind: 'impossible',
    reason: `${owners.length} admins have a wallet that is a key, and ${threshold} must sign: ${others} contract wallets are known on network ${signerNetworkId} only`,
  };
}

/** One change of the owners of a Safe, as the Safe itself makes it. */
export type OwnersStep =
  | { readonly kind: 'add'; readonly owner: string; readonly threshold: number }
  | { readonly kind: 'swap'; readonly previous: string; readonly owner: string; readonly by: string }
  | { readonly kind: 'remove'; readonly previous: string; readonly owner: string; readonly threshold: number }
  | { readonly kind: 'threshold'; readonly threshold: number };

/**
 * The fewest steps that make the wanted owners of the observed ones, in order: an owner who leaves is swapped for one who
 * comes, then the rest is added or removed. Each step names the owner before it in the list of the Safe, as it is then. Empty
 * where nothing differs. Pure.
 */
export function planOwners(observed: Owners, wanted: Owners): readonly OwnersStep[] {
  const has = (owners: readonly string[], owner: string) => owners.some((one) => isSameAddress(one, owner));
  const leaving = observed.owners.filter((owner) => !has(wanted.owners, owner));
  const coming = wanted.owners.filter((owner) => !has(observed.owners, owner));
  const list = [...observed.owners];
  const previousOf = (at: number) => list[at - 1] ?? SENTINEL;
  const steps: OwnersStep[] = [];
  const { threshold } = wanted;
  const swaps = Math.min(leaving.length, coming.length);
  for (const [i, owner] of leaving.entries()) {
    const at = list.indexOf(owner);
    const previous = previousOf(at);
    const by = coming[i];
    if (by !== undefined) {
      list[at] = by;
      steps.push({ kind: 'swap', previous, owner, by });
    } else {
      list.splice(at, 1);
      // At least as many are left as are wanted.
      steps.push({ kind: 'remove', previous, owner, threshold });
    }
  }
  const added = coming.slice(swaps);
  for (const [i, owner] of added.entries()) {
    // A new owner is the first of the list; the last one brings the threshold, which is reachable then.
    steps.push({ kind: 'add', owner, threshold: i === added.length - 1 ? threshold : observed.threshold });
  }
  const isSet = added.length > 0 || leaving.length > swaps || observed.threshold === threshold;
  return isSet ? steps : [...steps, { kind: 'threshold', threshold }];
}
