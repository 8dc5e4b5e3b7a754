import type { Approval } from '@orgwallet/client';
import { queryOptions } from '@tanstack/react-query';
import type { RequestFilter } from '../domain/requestFilter.ts';
import {
  isEnd,
  type MergedPage,
  mergePage,
  type Part,
  type Place,
  type Places,
  placeAfter,
} from '../domain/requestPages.ts';
import { sizeNow } from '../state/narrow.ts';
import { orgwallet, READ_TIMEOUT_MS } from './client.ts';

/** Rows of a page: three screens of a phone at most. */
export const pageSize = (): number => sizeNow({ narrow: 11, wide: 15 });
/** How many open requests of each list are looked through at most. */
const MOST_OPEN = 1_000;

type Status = 'done' | 'failed' | 'expired';
/** How both lists are read: the options of the client. */
interface Options {
  readonly signal?: AbortSignal;
  readonly timeoutMs: number;
}

const timed = (signal: AbortSignal) => ({ signal, timeoutMs: READ_TIMEOUT_MS });

async function* upTo<T>(rows: AsyncIterable<T>, most: number): AsyncGenerator<T> {
  let count = 0;
  for await (const row of rows) {
    yield row;
    count += 1;
    if (count === most) return;
  }
}

/** Both lists, each read to its end, newest first. */
async function* merged(lists: readonly AsyncIterable<Approval>[]): AsyncGenerator<Approval> {
  const readers = lists.map((list) => list[Symbol.asyncIterator]());
  const heads = await Promise.all(readers.map((reader) => reader.next()));
  for (;;) {
    const [index] = heads
      .flatMap(({ done, value }, i) => (done ? [] : [[i, value.createdAt] as const]))
      .reduce<readonly [number, string]>((newest, one) => (one[1] > newest[1] ? one : newest), [-1, '']);
    const [head, reader] = [heads[index], readers[index]];
    if (!head || !reader) return;
    yield head.value;
    heads[index] = await reader.next();
  }
}

/** All that match, newest first. `status`: in one of these states; absent: what is open. */
export function everyRequest(
  { transactions, proposals }: RequestFilter,
  status: Status | undefined,
  options: Options | { readonly signal: AbortSignal },
): AsyncGenerator<Approval> {
  return merged([
    ...(transactions
      ? [orgwallet.each('listTransactions', { ...transactions, status: status ?? 'queued' }, options)]
      : []),
    ...(proposals
      ? [orgwallet.each('listProposals', { ...proposals, status: status ?? 'open' }, options)]
      : []),
  ]);
}

/** What is open and matches, newest first. */
export const openRequestsQuery = (filter: RequestFilter) =>
  queryOptions({
    queryKey: ['requests', 'open', filter],
    queryFn: async ({ signal }) => {
      const found: Approval[] = [];
      for await (const one of upTo(everyRequest(filter, undefined, timed(signal)), 2 * MOST_OPEN))
        found.push(one);
      return found;
    },
  });

/** Where a page begins, and what is on it. */
interface RequestPage extends MergedPage {
  readonly places: Places;
  readonly parts: readonly [transactions: Part | undefined, proposals: Part | undefined];
}

interface Answer {
  readonly data: readonly Approval[];
  readonly pagination?: { readonly cursor: string; readonly hasMore: boolean } | undefined;
}

const partOf = ({ data, pagination }: Answer): Part => ({
  rows: data,
  cursor: pagination?.hasMore ? pagination.cursor : undefined,
});

/** Reads rows of one of the lists from a place on; undefined: nothing of it is looked for. */
async function readPart(
  list: 'transactions' | 'proposals',
  filter: RequestFilter,
  { status, place, limit }: { readonly status: Status; readonly place: Place; readonly limit: number },
  options: Options,
): Promise<Part | undefined> {
  if (isEnd(place)) return undefined;
  const from = place === '' ? {} : { cursor: place };
  if (list === 'transactions') {
    if (!filter.transactions) return undefined;
    const asked = place === '' ? { ...filter.transactions, status } : {};
    return partOf(await orgwallet.page('listTransactions', { ...asked, ...from, limit }, options));
  }
  if (!filter.proposals) return undefined;
  const asked = place === '' ? { ...filter.proposals, status } : {};
  return partOf(await orgwallet.page('listProposals', { ...asked, ...from, limit }, options));
}

/** A page of what is done, failed or expired. */
export const requestPageQuery = (filter: RequestFilter, status: Status, places: Places) =>
  queryOptions({
    queryKey: ['requests', 'page', filter, status, places],
    queryFn: async ({ signal }): Promise<RequestPage> => {
      const limit = pageSize();
      const [ofTransactions, ofProposals] = places;
      const [transactions, proposals] = await Promise.all([
        readPart('transactions', filter, { status, place: ofTransactions, limit }, timed(signal)),
        readPart('proposals', filter, { status, place: ofProposals, limit }, timed(signal)),
      ]);
      return { ...mergePage(transactions, proposals, limit), places, parts: [transactions, proposals] };
    },
  });

/** The places of the page after one. */
export async function placesAfter(page: RequestPage, filter: RequestFilter, status: Status): Promise<Places> {
  const { places, parts, taken } = page;
  const after = (list: 'transactions' | 'proposals', i: 0 | 1) =>
    placeAfter(places[i], parts[i] ?? { rows: [], cursor: undefined }, taken[i], async (limit) => {
      const asked = { status, place: places[i], limit };
      return (await readPart(list, filter, asked, { timeoutMs: READ_TIMEOUT_MS }))?.cursor;
    });
  return Promise.all([after('transactions', 0), after('proposals', 1)]);
}
