import type { Prices } from './prices';
import { type Held, sumOf, type Value, worthOf } from './values';

/** The prices of totals, as they are shown. */
interface ShownPrices extends Pick<Prices, 'status' | 'problem'> {
  readonly currency: string | null;
  readonly at: string | null;
  /** The sum of all values; null where no prices are current. */
  readonly value: string | null;
}

/** Adds to each total what it is worth; nothing without prices. */
export function pricedTotals<Total extends Held, Missing>(
  { totals, missing }: { readonly totals: readonly Total[]; readonly missing: readonly Missing[] },
  prices: Prices | undefined,
  nowMs: number,
): { totals: (Total & { value: Value | null })[]; missing: Missing[]; prices: ShownPrices | null } {
  const valued = totals.map((total) => ({ ...total, value: prices ? worthOf(total, prices, nowMs) : null }));
  const shown = { totals: valued, missing: [...missing] };
  if (!prices) return { ...shown, prices: null };
  const { status, problem, list } = prices;
  const value = status === 'current' ? sumOf(valued.map((total) => total.value)) : null;
  const { currency = null, at = null } = list ?? {};
  return { ...shown, prices: { status, currency, at, problem, value } };
}
