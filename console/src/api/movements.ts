import type { Schema } from '@orgwallet/client';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { MovementFilter } from '../domain/movementFilter.ts';
import { orgwallet, READ_TIMEOUT_MS } from './client.ts';

const timed = (signal: AbortSignal) => ({ signal, timeoutMs: READ_TIMEOUT_MS });

/** A statement asks the networks for balances of the past. */
const STATEMENT_TIMEOUT_MS = 60_000;
const LATEST = 6;
/** What is read of a period at most, for a chart or a page. */
export const MOST_OF_PERIOD = 500;

/** The last movements of all accounts. */
export const latestMovementsQuery = queryOptions({
  queryKey: ['movements', 'latest'],
  queryFn: async ({ signal }) =>
    (await orgwallet.page('listMovements', { limit: LATEST }, timed(signal))).data,
});

/** Movements of the organization or of an account, newest first, 50 at a time. */
export const movementPagesQuery = (filter: MovementFilter) =>
  infiniteQueryOptions({
    queryKey: ['movements', 'pages', filter],
    queryFn: ({ signal, pageParam }) =>
      orgwallet.page(
        'listMovements',
        pageParam ? { cursor: pageParam, limit: 50 } : { ...filter, limit: 50 },
        timed(signal),
      ),
    initialPageParam: '',
    getNextPageParam: ({ pagination }) => (pagination?.hasMore ? pagination.cursor : undefined),
  });

/** Times of blocks, in ISO 8601: the first one included, the second one not. */
interface Period {
  readonly from?: string;
  readonly to?: string;
}

/** The statement of an account. It is not read again by itself: each one asks the networks. */
export const statementQuery = (accountId: string, period: Period) =>
  queryOptions({
    queryKey: ['statement', accountId, period],
    queryFn: ({ signal }) =>
      orgwallet.getStatement(accountId, period, { signal, timeoutMs: STATEMENT_TIMEOUT_MS }),
    staleTime: 60_000,
  });

/** The rows of a statement, or of one asset of it: the newest `MOST_OF_PERIOD` movements. */
export interface StatementRows {
  readonly rows: readonly Schema['Movement'][];
  /** Whether there are no others. */
  readonly isWhole: boolean;
}

/** The rows of a statement that was read, newest first, without what came after its last blocks. */
export const statementRowsQuery = (
  statement: Pick<Schema['Statement'], 'accountId' | 'from' | 'to' | 'assets'>,
  assetId?: string,
) => {
  const { accountId, from, to, assets } = statement;
  const ends = new Map(assets.map(({ asset, toBlock }) => [asset.id, toBlock]));
  return queryOptions({
    queryKey: ['statement', accountId, 'rows', { from, to, assetId, ends: [...ends] }],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }): Promise<StatementRows> => {
      const rows: Schema['Movement'][] = [];
      const filter = {
        accountId,
        status: 'confirmed',
        verified: 'any',
        ...(from === null ? {} : { from }),
        ...(to === null ? {} : { to }),
        ...(assetId === undefined ? {} : { assetId }),
        limit: 100,
      } as const;
      for await (const one of orgwallet.each('listMovements', filter, { signal })) {
        if (one.blockNumber > (ends.get(one.asset.id) ?? -1)) continue;
        if (rows.length === MOST_OF_PERIOD) return { rows, isWhole: false };
        rows.push(one);
      }
      return { rows, isWhole: true };
    },
  });
};
