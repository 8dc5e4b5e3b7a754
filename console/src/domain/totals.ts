import type { Schema } from '@orgwallet/client';

type Balance = Schema['Balance'];

/** How much of an asset some accounts hold together, in the smallest unit. */
export interface Total {
  readonly networkId: number;
  readonly asset: Schema['Asset'];
  readonly raw: bigint;
  /** How many accounts hold some of it. */
  readonly accounts: number;
}

/**
 * What accounts hold together, asset by asset: the same symbol on another network, or of another token, is another asset.
 * `unavailable` are the networks that do not answer: their amounts are not in the totals.
 */
export function totalsOf(balances: readonly (readonly Balance[])[]): {
  readonly totals: readonly Total[];
  readonly unavailable: readonly number[];
} {
  const totals = new Map<string, Total>();
  const unavailable = new Set<number>();
  for (const { networkId, asset, rawAmount } of balances.flat()) {
    if (rawAmount === null) {
      unavailable.add(networkId);
      continue;
    }
    const key = `${networkId}:${asset.id}`;
    const { raw, accounts } = totals.get(key) ?? { raw: 0n, accounts: 0 };
    const held = BigInt(rawAmount);
    totals.set(key, { networkId, asset, raw: raw + held, accounts: accounts + (held > 0n ? 1 : 0) });
  }
  return { totals: [...totals.values()].filter(({ raw }) => raw > 0n), unavailable: [...unavailable] };
}
