/** Gas of one envelope that the signer has signed, or is about to sign. */
export interface SignedGas {
  readonly kind: 'deployment' | 'transaction' | 'cancellation' | 'filler' | 'upkeep';
  readonly relayerAddress: string;
  readonly relayerNonce: number;
  /** The most that it can cost, in wei. */
  readonly wei: bigint;
  /** When it was signed, in milliseconds. */
  readonly at: number;
}

/** What a gas budget is for, in milliseconds. */
export const GAS_WINDOW_MS = 3_600_000;
/** The part of a budget that is kept for cancellations, filled nonces and the admins' Safe: one of this many. */
const KEPT = 4n;

/** The most that envelopes cost together, in wei: of those at one nonce of a relayer, only one is ever in a block. */
export function gasCost(signed: Iterable<SignedGas>): bigint {
  const most = new Map<string, bigint>();
  for (const { relayerAddress, relayerNonce, wei } of signed) {
    const key = `${relayerAddress}/${relayerNonce}`;
    if (wei > (most.get(key) ?? -1n)) most.set(key, wei);
  }
  return [...most.values()].reduce((sum, wei) => sum + wei, 0n);
}

/** How much of a budget envelopes of a kind may use up, in wei. */
export function gasLimit(perHour: bigint, kind: SignedGas['kind']): bigint {
  return kind === 'deployment' || kind === 'transaction' ? perHour - perHour / KEPT : perHour;
}
