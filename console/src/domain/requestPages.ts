import type { Approval } from '@orgwallet/client';

/** Where the next rows of a list are: a cursor of the service, or that there are no more. */
export type Place = string;
const FIRST: Place = '';
const END: Place = '.';

/** The places of both lists, of transactions and of proposals, at which a page begins. */
export type Places = readonly [transactions: Place, proposals: Place];

/** Places in the address of a page. Cursors are base64url, which has no `~`. */
export const placesText = (places: Places): string => places.join('~');

/** The places in an address; the first page for what is none. */
export function readPlaces(text: string | undefined): Places {
  const [transactions = FIRST, proposals = FIRST] = (text ?? '').split('~');
  return [transactions, proposals];
}

/** Whether a list is read to its end. */
export const isEnd = (place: Place): boolean => place === END;

/** Rows of one list, and what follows them. */
export interface Part {
  readonly rows: readonly Approval[];
  /** The cursor after the last of them; undefined: there are no more. */
  readonly cursor: string | undefined;
}

const NOTHING: Part = { rows: [], cursor: undefined };

/** A page of both lists together, newest first, and how many rows of each it has taken. */
export interface MergedPage {
  readonly rows: readonly Approval[];
  readonly taken: readonly [transactions: number, proposals: number];
  readonly hasMore: boolean;
}

function newer(one: Approval | undefined, other: Approval | undefined): Approval | undefined {
  if (!one || !other) return one ?? other;
  return one.createdAt >= other.createdAt ? one : other;
}

/** Merges two lists, each in its own order, by the times of their creation. */
export function mergePage(transactions: Part = NOTHING, proposals: Part = NOTHING, size: number): MergedPage {
  const rows: Approval[] = [];
  const taken: [number, number] = [0, 0];
  while (rows.length < size) {
    const [one, other] = [transactions.rows[taken[0]], proposals.rows[taken[1]]];
    const isCut = (!one && transactions.cursor) || (!other && proposals.cursor);
    const next = newer(one, other);
    // What a short page leaves out may be newer than the next row of the other list.
    if (isCut || !next) break;
    rows.push(next);
    taken[next === one ? 0 : 1] += 1;
  }
  const isLeft = ({ rows: all, cursor }: Part, count: number) => count < all.length || cursor !== undefined;
  return { rows, taken, hasMore: isLeft(transactions, taken[0]) || isLeft(proposals, taken[1]) };
}

/**
 * The place after the first `taken` rows of a part that begins at `place`. `cursorAfter` reads the cursor after so many
 * rows where the service has not said it.
 */
export async function placeAfter(
  place: Place,
  { rows, cursor }: Part,
  taken: number,
  cursorAfter: (taken: number) => Promise<string | undefined>,
): Promise<Place> {
  if (taken === 0) return rows.length === 0 && cursor === undefined ? END : place;
  const after = taken === rows.length ? cursor : await cursorAfter(taken);
  return after ?? END;
}
