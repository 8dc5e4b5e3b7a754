import { textHash } from './keccak';

/** The most relayers of a network: each has a balance that somebody keeps up. */
export const MAX_RELAYERS = 64;

/** Which of a network's relayers pays for an account: always the same one, so that the account's nonces stay in order. */
export function relayerIndex(accountId: string, relayers: number): number {
  return Number(BigInt(textHash(accountId)) % BigInt(relayers));
}
