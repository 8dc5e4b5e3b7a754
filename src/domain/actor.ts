/** Who did something. `walletAddress` is empty for those who have none. */
export interface Actor {
  readonly type: 'member' | 'operator' | 'system';
  readonly id: string;
  readonly name: string;
  readonly walletAddress: string;
}
