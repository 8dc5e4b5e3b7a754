import type { Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { totalsQuery } from '../../api/queries.ts';
import { heldOf, lackingOf, unavailableOf } from '../../domain/totals.ts';

const NONE: Schema['Totals'] = { totals: [], missing: [], prices: null };

/** What the accounts hold together, as far as it could be read. */
export interface Totals {
  readonly totals: readonly Schema['Total'][];
  /** Networks that do not answer. */
  readonly unavailable: readonly number[];
  readonly lacking: ReturnType<typeof lackingOf>;
  /** Null where the installation sets none. */
  readonly prices: Schema['Totals']['prices'];
  readonly isReading: boolean;
  readonly error: unknown;
  readonly refetch: () => void;
}

/** Reads what the accounts hold together. */
export function useTotals(): Totals {
  const { data = NONE, isPending, error, refetch } = useQuery(totalsQuery);
  return {
    totals: heldOf(data),
    unavailable: unavailableOf(data),
    lacking: lackingOf(data),
    prices: data.prices,
    isReading: isPending,
    error,
    refetch: () => void refetch(),
  };
}
