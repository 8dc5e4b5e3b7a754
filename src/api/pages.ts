import { createPause } from '../pause';
import type { CursorScope, Cursors, Filters } from './cursors';
import { badRequest } from './refusals';

/** One instant has one text, whatever offset it was sent with. */
export function parseInstant(text: string | undefined): string | undefined {
  return text === undefined ? undefined : new Date(text).toISOString();
}

/** The period and the text of a list of requests, as the database is asked for them. */
export function requestFilters({ from, to, text }: Filters): { from?: Date; to?: Date; text?: string } {
  return {
    ...(from === undefined ? {} : { from: new Date(from) }),
    ...(to === undefined ? {} : { to: new Date(to) }),
    ...(text === undefined ? {} : { text }),
  };
}

/** The position, size and filters of a page. */
interface PageRequest {
  readonly before?: bigint;
  readonly limit: number;
  readonly filters: Filters;
}

/**
 * Reads the requested page. A cursor contains its filters: repeated filters must be the same. Refuses
 * with validationError when the cursor was not made for this list.
 */
export function pageRequest(
  cursors: Cursors,
  scope: CursorScope,
  query: { cursor?: string | undefined; limit?: number | undefined },
  given: { readonly [name: string]: string | undefined },
  defaultLimit: number,
): PageRequest {
  const requested = Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const limit = query.limit ?? defaultLimit;
  // The end of a list is the empty cursor; sent back, it begins again.
  if (query.cursor === undefined || query.cursor === '') return { limit, filters: requested };
  const read = cursors.read(scope, query.cursor);
  if (!read) throw badRequest([{ field: 'cursor', message: 'is not a cursor of this list' }]);
  for (const [name, value] of Object.entries(requested)) {
    if (read.filters[name] !== value) {
      throw badRequest([{ field: name, message: 'is not what the cursor was made with' }]);
    }
  }
  return { before: read.position, limit, filters: read.filters };
}

/** Shows rows one after the other, without keeping others waiting for all of them. */
async function shownInTurns<Row, Shown>(rows: readonly Row[], show: (row: Row) => Shown): Promise<Shown[]> {
  const shown: Shown[] = [];
  const pause = createPause();
  for (const row of rows) {
    shown.push(show(row));
    await pause();
  }
  return shown;
}

/**
 * Builds a page from rows, of which one more than the limit was read unless `hasMore` is given. `reached`: where the next page
 * begins, if not after the last row.
 */
export async function page<Row extends { position: bigint }, Shown>(
  cursors: Cursors,
  scope: CursorScope,
  request: PageRequest,
  rows: readonly Row[],
  show: (row: Row) => Shown,
  hasMore = rows.length > request.limit,
  reached?: bigint,
): Promise<{ data: Shown[]; pagination: { cursor: string; hasMore: boolean } }> {
  const onPage = rows.slice(0, request.limit);
  const last = reached ?? onPage.at(-1)?.position;
  return {
    data: await shownInTurns(onPage, show),
    pagination: {
      cursor: hasMore && last !== undefined ? cursors.write(scope, request.filters, last) : '',
      hasMore,
    },
  };
}

/** The page size of lists, unless the caller says otherwise. */
export const DEFAULT_LIMIT = 20;

/** A list in full, or in pages when the query has a limit or a cursor. */
export async function listOrPage<Row extends { position: bigint }, Shown>(
  cursors: Cursors,
  scope: CursorScope,
  query: { cursor?: string | undefined; limit?: number | undefined },
  read: (page: { before?: bigint; limit?: number }) => Promise<Row[]>,
  show: (row: Row) => Shown,
): Promise<{ data: Shown[]; pagination?: { cursor: string; hasMore: boolean } }> {
  if (query.cursor === undefined && query.limit === undefined) {
    return { data: await shownInTurns(await read({}), show) };
  }
  const { before, limit, filters } = pageRequest(cursors, scope, query, {}, DEFAULT_LIMIT);
  const rows = await read({ limit: limit + 1, ...(before === undefined ? {} : { before }) });
  return page(cursors, scope, { limit, filters }, rows, show);
}
