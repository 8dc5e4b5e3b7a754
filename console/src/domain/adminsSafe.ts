import type { Schema } from '@orgwallet/client';
import { isSameAddress } from './address.ts';

type Member = Pick<Schema['MemberSummary'], 'name' | 'type' | 'walletAddress' | 'walletKind'>;
/** The admins' Safe on a network, as the signer has read it. */
export type SafeOnNetwork = Schema['AdminsSafeOnNetwork'];

const HOUR_MS = 3_600_000;

/** Who the admins are, or would be. */
export interface AdminSet {
  readonly members: readonly Member[];
  readonly threshold: number;
}

/** What makes the admins' Safe weaker than it looks. */
export type Weakness = 'threshold' | 'bots';

/** What is weak in who the admins are: one wallet takes every account, or bots do without any person. */
export function weaknessesOf({ members, threshold }: AdminSet): Weakness[] {
  const bots = members.filter(({ type }) => type === 'api').length;
  return [
    ...(threshold === 1 ? ['threshold' as const] : []),
    ...(bots >= threshold ? ['bots' as const] : []),
  ];
}

/** The wallets of admins that own the Safe on every network: a contract wallet may be somebody else's on another one. */
export const keyWallets = ({ members }: AdminSet): readonly string[] =>
  members.filter(({ walletKind }) => walletKind === 'key').map(({ walletAddress }) => walletAddress);

/** Whether too few wallets own the Safe on networks where contract wallets do not count. */
export const isOutOfReach = (admins: AdminSet): boolean => keyWallets(admins).length < admins.threshold;

/** The owners on a network who are not admins any more: together they can still act there. */
export function formerOwners({ owners }: SafeOnNetwork, { members }: AdminSet): readonly string[] {
  return (owners ?? []).filter(
    (owner) => !members.some(({ walletAddress }) => isSameAddress(owner, walletAddress)),
  );
}

/** Whether the admins of now are not on a network yet, for more than an hour. */
export function isLate({ status, since }: SafeOnNetwork, now: number): boolean {
  return (status === 'behind' || status === 'missing') && now - Date.parse(since) > HOUR_MS;
}

/** An account on a network. */
export interface AccountOnNetwork {
  readonly account: Pick<Schema['Account'], 'id' | 'name' | 'address'>;
  readonly network: Schema['AccountNetwork'];
}

/** Every account on each of its networks. */
export const accountsOnNetworks = (accounts: readonly Schema['Account'][]): readonly AccountOnNetwork[] =>
  accounts.flatMap((account) => account.networks.map((network) => ({ account, network })));
