/** Who did something. `walletAddress` is empty for those who have none. */
export interface Actor {
  readonly type: 'member' | 'operator' | 'system';
  readonly id: string;
  readonly name: string;
  readonly walletAddress: string;
}

/** The service itself, for timers and repairs. */
export const SYSTEM: Actor = { type: 'system', id: 'system', name: 'orgwallet', walletAddress: '' };
/** An operator of the installation, through the CLI or the Temporal UI. */
export const OPERATOR: Actor = { type: 'operator', id: 'operator', name: 'operator', walletAddress: '' };

/** A member as an actor. */
export function memberActor({ id, name, walletAddress }: Omit<Actor, 'type'>): Actor {
  return { type: 'member', id, name, walletAddress };
}
