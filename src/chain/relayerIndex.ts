import { textHash } from './keccak';

/** Which of a network's relayers pays for an account: always the same one, so that the account's nonces stay in order. */
export function relayerIndex(accountId: string, relayers: number): number {
  return Number(BigInt(textHash(accountId)) % BigInt(relayers));
}
