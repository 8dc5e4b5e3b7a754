import type { Credential } from '../db/credentials';
import type { Db } from '../db/database';
import { type FeedPart, type FeedPlace, findPlaces, readFeeds } from '../db/feed';
import { requireRow } from '../db/rows';
import { credentialEnded } from '../domain/credential';
import type { FeedCursor } from '../domain/feedCursor';
import type { FeedEntry } from '../domain/feedEvent';
import { badRequest, Refused } from './refusals';

/** Parts that are read for one answer: a filter may leave out nearly everything. */
const MAX_PARTS = 10;
/** Behind every log. */
const BEHIND_ALL: FeedCursor = { position: 2n ** 62n, hash: null };

/** Where a caller goes on: after the first of its cursors. The others are what it has besides. */
export type After = 'latest' | readonly [FeedCursor, ...FeedCursor[]];

/** Whose feed is read, and what of it. */
export interface Reader {
  readonly credential: Credential;
  /** Undefined: every type. */
  readonly types: ReadonlySet<string> | undefined;
  /** The field that said where to go on, for refusals. */
  readonly field: string;
}

/** A part of a feed as one caller wants it. */
export interface FeedPage {
  readonly entries: readonly FeedEntry[];
  /** Up to where the feed is known now: behind the last entry, where later ones were left out. */
  readonly place: FeedPlace;
  readonly hasMore: boolean;
}

/** The place behind an entry. */
export const placeOf = ({ position, hash }: FeedEntry): FeedPlace => ({ position, hash });

/** What of some entries is for a reader: at most so many, and up to where the feed is known then. */
export function take(
  entries: readonly FeedEntry[],
  { types }: Pick<Reader, 'types'>,
  { from, limit }: { readonly from: FeedPlace; readonly limit: number },
): FeedPage {
  const wanted = types ? entries.filter(({ action }) => types.has(action)) : entries;
  const taken = wanted.slice(0, limit);
  const hasMore = wanted.length > limit;
  const last = (hasMore ? taken : entries).at(-1);
  return { entries: taken, place: last ? placeOf(last) : from, hasMore };
}

function gone(field: string, { position }: FeedCursor, common: bigint): Refused {
  return new Refused(
    {
      code: 'gone',
      message:
        `${field}: the log does not have the entry at position ${position} any more, because the database was restored from a ` +
        `backup: up to position ${common} it is what you have; drop what you have behind it, and go on from there` +
        (common === 0n ? ' (send earlier cursors of yours as well, to find out what you can keep)' : ''),
    },
    { details: { position: String(common) } },
  );
}

/** Why a caller cannot go on after the first of its cursors; undefined where it can. */
async function refusalOf(
  db: Db,
  { credential, field }: Reader,
  cursors: readonly [FeedCursor, ...FeedCursor[]],
  { head, hashAtPosition }: FeedPart,
): Promise<Refused | undefined> {
  const [{ position, hash }] = cursors;
  if (hash === null) {
    if (hashAtPosition !== undefined) return undefined;
    const message = `position ${position} is ahead of the log, which ends at ${head.position}`;
    return badRequest([{ field, message }]);
  }
  if (hash === hashAtPosition) return undefined;
  const places = cursors.filter((cursor): cursor is FeedPlace => cursor.hash !== null);
  const { own, isForeign } = await findPlaces(db, credential.organizationId, places);
  if (isForeign) return badRequest([{ field, message: 'is of another organization' }]);
  const [common = 0n] = [...own].sort((one, two) => Number(two - one));
  return gone(field, cursors[0], common);
}

/** Reads what is behind a position, while the credential is valid. Throws Refused. */
async function readPart(db: Db, { credential }: Reader, position: bigint): Promise<FeedPart> {
  const { id, organizationId } = credential;
  const { feeds, valid } = await readFeeds(db, new Map([[organizationId, position]]), [id]);
  if (!valid.has(id)) throw new Refused(credentialEnded(id));
  return requireRow(feeds.get(organizationId));
}

/**
 * Reads at most so many entries of a feed. Throws Refused: 400 for a place that the log has not reached or that is of another
 * organization, 410 for one that it has lost.
 */
export async function readFeedPage(db: Db, reader: Reader, after: After, limit: number): Promise<FeedPage> {
  const [cursor] = after === 'latest' ? [BEHIND_ALL] : after;
  let part = await readPart(db, reader, cursor.position);
  if (after === 'latest') return { entries: [], place: part.head, hasMore: false };
  const refusal = await refusalOf(db, reader, after, part);
  if (refusal) throw refusal;
  const entries: FeedEntry[] = [];
  let place: FeedPlace = { position: cursor.position, hash: part.hashAtPosition ?? '' };
  for (let parts = 1; ; parts += 1) {
    const page = take(part.entries, reader, { from: place, limit: limit - entries.length });
    entries.push(...page.entries);
    place = page.place;
    const hasMore = place.position < part.head.position;
    if (!hasMore || entries.length === limit || parts === MAX_PARTS) return { entries, place, hasMore };
    part = await readPart(db, reader, place.position);
  }
}
