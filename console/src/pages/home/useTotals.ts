import { useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import { balancesQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { type Total, totalsOf } from '../../domain/totals.ts';

/** Balances are read account by account: of so many at first, and of as many more each time. */
const ACCOUNTS_AT_ONCE = 25;

/** What the accounts hold together, of those whose balances have been read so far. */
export interface Totals {
  readonly totals: readonly Total[];
  readonly unavailable: readonly number[];
  /** How many accounts are in the totals. */
  readonly counted: number;
  readonly isReading: boolean;
  readonly error: unknown;
  readonly refetch: () => void;
  /** Reads those of more accounts; undefined where all are read. */
  readonly more: (() => void) | undefined;
}

/** Reads what the accounts hold together, of a bounded number of accounts at a time. */
export function useTotals({ accounts }: Organization): Totals {
  const [most, setMost] = useState(ACCOUNTS_AT_ONCE);
  const read = useQueries({
    queries: accounts.slice(0, most).map(({ id }) => balancesQuery(id)),
    combine: (results) => ({
      ...totalsOf(results.flatMap(({ data }) => (data ? [data] : []))),
      counted: results.filter(({ data }) => data !== undefined).length,
      isReading: results.some(({ isPending }) => isPending),
      error: results.find(({ error }) => error)?.error,
      refetch: () => {
        for (const { error, refetch } of results) if (error) void refetch();
      },
    }),
  });
  return { ...read, more: accounts.length > most ? () => setMost(most + ACCOUNTS_AT_ONCE) : undefined };
}
