import type { Schema } from '@orgwallet/client';

export const MEMBER_ACTIONS = ['create', 'update', 'remove'] as const;

/** A member as they are typed. */
export interface NewMember {
  readonly name: string;
  readonly walletAddress: string;
  readonly type: Schema['MemberType'];
  readonly walletKind: Schema['WalletKind'];
}

/** A change of the members as it is typed. */
export interface MembersDraft {
  readonly action: (typeof MEMBER_ACTIONS)[number];
  readonly members: NewMember[];
  /** The member to change. */
  readonly id: string;
  /** What is changed of them; empty: as it is. */
  readonly name: string;
  readonly walletAddress: string;
  readonly walletKind: Schema['WalletKind'] | '';
  readonly removed: readonly string[];
}

export const NO_MEMBER: NewMember = { name: '', walletAddress: '', type: 'user', walletKind: 'key' };

export const NO_CHANGE: MembersDraft = {
  action: 'create',
  members: [NO_MEMBER],
  id: '',
  name: '',
  walletAddress: '',
  walletKind: '',
  removed: [],
};
