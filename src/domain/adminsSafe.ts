import { isSameAddress } from './address';
import { membersOf, type OrganizationState } from './governance';
import type { AdminSet } from './proposal';

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
  readonly signerNetworkId?: number | undefined;
}

/** What a Safe takes for the beginning of its lists of owners and modules, and never for an owner. Source: Safe 1.4.1. */
export const SENTINEL = '0x0000000000000000000000000000000000000001';

/**
 * Who owns the admins' Safe on a network: the admins whose wallet is a key, and those with a contract wallet where that is
 * known to be theirs. The threshold is the one of the admins, never lower.
 */
export function wantedOwners(
  { threshold, members }: AdminSet,
  { id, signerNetworkId }: OwnersNetwork,
): WantedOwners {
  const owners = members
    .filter(({ walletKind }) => walletKind === 'key' || id === signerNetworkId)
    .map(({ walletAddress }) => walletAddress)
    .filter((wallet) => !isSameAddress(wallet, SENTINEL));
  if (owners.length >= threshold) return { kind: 'owners', owners, threshold };
  const others = members.length - owners.length;
  return {
    kind: 'impossible',
    reason: `${owners.length} admins have a wallet that is a key, and ${threshold} must sign: the contract wallets of ${others} are theirs on the network of contract wallets only (SIGNER_NETWORK)`,
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

/** How the admins' Safe of an organization is on a network, compared with what is sealed. */
export const ADMINS_SAFE_STATUSES = [
  // It does not exist, or its keeper owns it still.
  'missing',
  // The sealed admins are newer than what its keeper has written last.
  'behind',
  'current',
  // Its owners have changed it.
  'diverged',
  // Its keeper is not its module any more.
  'independent',
  // Too few admins can own it.
  'impossible',
  // It cannot be read, or is not what was made.
  'unknown',
] as const;
export type AdminsSafeStatus = (typeof ADMINS_SAFE_STATUSES)[number];

/** Whether the admins can take an account over on a network; `takenOver`: they have. */
export const ACCOUNT_RESCUES = ['ready', 'pending', 'none', 'takenOver'] as const;
export type AccountRescue = (typeof ACCOUNT_RESCUES)[number];

/** A Safe as it was read, as far as this depends on it. */
interface ReadSafe extends Owners {
  readonly modules: readonly string[];
  readonly guard: string;
  readonly fallbackHandler: string;
}

/** The sequence of the last decision about who the admins are: their set, their threshold, or the wallet of one. */
export function adminsSequence(state: OrganizationState): number {
  const members = membersOf(state, state.admins.memberIds);
  return Math.max(state.admins.revision, ...members.map(({ revision }) => revision));
}

/**
 * How an admins' Safe is. `written`: the decision that its keeper has written last, of those that are done; null: none. The
 * service never fights what its owners do: what they have changed stays until the next decision about the admins.
 */
export function adminsSafeStatus(
  found: ReadSafe | null,
  expected: {
    readonly keeper: string;
    readonly fallbackHandler: string;
    readonly wanted: Owners;
    readonly sequence: number;
    readonly written: number | null;
  },
): { readonly status: Exclude<AdminsSafeStatus, 'impossible' | 'unknown'>; readonly reason: string | null } {
  const { keeper, wanted, written, sequence } = expected;
  if (found === null) return { status: 'missing', reason: null };
  const { owners, modules } = found;
  if (owners.length === 1 && owners[0] === keeper) return { status: 'missing', reason: null };
  if (!modules.includes(keeper)) return { status: 'independent', reason: 'its keeper is not its module' };
  const diverged = (reason: string) => ({ status: 'diverged', reason }) as const;
  if (BigInt(found.guard) !== 0n) return diverged('it has a guard');
  if (found.fallbackHandler !== expected.fallbackHandler) return diverged('it has another fallback handler');
  const isWanted = planOwners(found, wanted).length === 0;
  if (!isWanted && (written === null || sequence > written)) return { status: 'behind', reason: null };
  const others = modules.filter((module) => module !== keeper);
  if (others.length > 0) return diverged(`other modules can act for it as well: ${others.join(', ')}`);
  if (isWanted) return { status: 'current', reason: null };
  return diverged('its owners are not the admins, and nothing was decided since they were written');
}
