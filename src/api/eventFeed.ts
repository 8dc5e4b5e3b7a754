import type { Response } from 'express';
import type { Logger } from 'pino';
import type { Credential } from '../db/credentials';
import type { Db } from '../db/database';
import { FEED_PAGE, type FeedPart, type FeedPlace, findPlaces, readFeeds } from '../db/feed';
import { requireRow } from '../db/rows';
import { credentialEnded } from '../domain/credential';
import type { FeedCursor } from '../domain/feedCursor';
import type { FeedEntry } from '../domain/feedEvent';
import { badRequest, Refused, unavailable } from './refusals';

const POLL_MS = 1_000;
/** Who may listen at a time on one process, streams and held requests together. */
const MOST_LISTENING: { readonly [kind in Credential['kind']]: number } = { session: 4, apiKey: 16 };
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

/** Who hears of what is new. */
interface Listener {
  readonly credential: Credential;
  /** Of the last entry that it has heard of. */
  place: FeedPlace;
  /** Every second, also where nothing is new. */
  receive(entries: readonly FeedEntry[]): void;
  /** `over`: its credential. `lost`: the log does not have any more what it has heard of. */
  end(reason: 'over' | 'lost' | 'stopping'): void;
}

/** The feeds of a process: one statement a second for all who listen together, and none while nobody does. */
export interface EventFeed {
  /**
   * Reads at most so many entries of a feed. Throws Refused: 400 for a place that the log has not reached or that is of
   * another organization, 410 for one that it has lost.
   */
  read(reader: Reader, after: After, limit: number): Promise<FeedPage>;
  /** Waits until there is an entry behind a place, or the time (ms) is over: then there is none. */
  next(reader: Reader, place: FeedPlace, wait: Wait): Promise<FeedPage>;
  /** Begins to listen; returns what ends it. */
  listen(listener: Listener): () => void;
  /** Counts an answer among those that the caller listens with, until it is closed. Throws Refused where it has too many. */
  enter(credential: Credential, response: Response): void;
  /** Ends all of it; callers go on elsewhere. */
  stop(): void;
}

interface Wait {
  readonly limit: number;
  readonly ms: number;
  readonly response: Response;
}

const placeOf = ({ position, hash }: FeedEntry): FeedPlace => ({ position, hash });

/** What of some entries is for a reader: at most so many, and up to where the feed is known then. */
function take(
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

/** The hash that the log has at the place of a listener; null: that was not read. */
function hashAt(part: FeedPart, from: bigint, { position }: FeedPlace): string | null | undefined {
  if (position === from) return part.hashAtPosition;
  const isBehind = position > (part.entries.at(-1)?.position ?? from);
  if (isBehind && part.entries.length === FEED_PAGE) return null;
  return part.entries.find((entry) => entry.position === position)?.hash;
}

/** The position after which each organization is read: that of its listener that is furthest behind. */
function heardBy(listeners: Iterable<Listener>): Map<string, bigint> {
  const heard = new Map<string, bigint>();
  for (const { credential, place } of listeners) {
    const known = heard.get(credential.organizationId);
    if (known === undefined || place.position < known) heard.set(credential.organizationId, place.position);
  }
  return heard;
}

function gone(field: string, { position }: FeedCursor, common: bigint): Refused {
  return new Refused(
    {
      code: 'gone',
      message:
        `${field}: the log does not have the entry at position ${position} any more, because the database was restored from a ` +
        `backup: up to position ${common} it is what you have; drop what you have behind it, and go on from there`,
    },
    { details: { position: String(common) } },
  );
}

const stopping = () => unavailable('the service is stopping; connect again');

/** Counts the answers that each credential listens with. */
function createListeningLimit(): EventFeed['enter'] {
  const entered = new Map<string, number>();
  return ({ kind, id }, response) => {
    const count = entered.get(id) ?? 0;
    if (count >= MOST_LISTENING[kind]) {
      const message = `this credential listens ${count} times on this process, the maximum`;
      throw new Refused({ code: 'rateLimited', message }, { headers: { 'Retry-After': '1' } });
    }
    if (response.closed) return;
    entered.set(id, count + 1);
    response.once('close', () => {
      const left = (entered.get(id) ?? 1) - 1;
      if (left === 0) entered.delete(id);
      else entered.set(id, left);
    });
  };
}

/** Creates the feeds of a process. */
export function createEventFeed(db: Db, logger: Logger): EventFeed {
  const listeners = new Set<Listener>();
  const enter = createListeningLimit();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  /** Why a caller cannot go on after the first of its cursors; undefined where it can. */
  async function refusalOf(
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

  async function readPart({ credential }: Reader, position: bigint): Promise<FeedPart> {
    if (stopped) throw stopping();
    const { id, organizationId } = credential;
    const { feeds, valid } = await readFeeds(db, new Map([[organizationId, position]]), [id]);
    if (!valid.has(id)) throw new Refused(credentialEnded(id));
    return requireRow(feeds.get(organizationId));
  }

  async function read(reader: Reader, after: After, limit: number): Promise<FeedPage> {
    const [cursor] = after === 'latest' ? [BEHIND_ALL] : after;
    let part = await readPart(reader, cursor.position);
    if (after === 'latest') return { entries: [], place: part.head, hasMore: false };
    const refusal = await refusalOf(reader, after, part);
    if (refusal) throw refusal;
    const entries: FeedEntry[] = [];
    let place: FeedPlace = { position: cursor.position, hash: part.hashAtPosition ?? '' };
    for (let parts = 1; ; parts += 1) {
      const page = take(part.entries, reader, { from: place, limit: limit - entries.length });
      entries.push(...page.entries);
      place = page.place;
      const hasMore = place.position < part.head.position;
      if (!hasMore || entries.length === limit || parts === MAX_PARTS) return { entries, place, hasMore };
      part = await readPart(reader, place.position);
    }
  }

  function next(reader: Reader, place: FeedPlace, { limit, ms, response }: Wait): Promise<FeedPage> {
    return new Promise((resolve, reject) => {
      let reached = place;
      const done = (page: FeedPage) => {
        clearTimeout(over);
        unlisten();
        resolve(page);
      };
      const doneWithNone = () => done({ entries: [], place: reached, hasMore: false });
      const over = setTimeout(doneWithNone, ms);
      const unlisten = listen({
        credential: reader.credential,
        place,
        receive(entries) {
          const page = take(entries, reader, { from: reached, limit });
          reached = page.place;
          if (page.entries.length > 0) done(page);
        },
        end(reason) {
          if (reason !== 'over') return doneWithNone();
          clearTimeout(over);
          reject(new Refused(credentialEnded(reader.credential.id)));
        },
      });
      response.once('close', doneWithNone);
    });
  }

  function listen(listener: Listener): () => void {
    listeners.add(listener);
    if (stopped) setImmediate(() => end(listener, 'stopping'));
    schedule();
    return () => listeners.delete(listener);
  }

  /** Reports to a listener what a part of its feed has behind its place. */
  function report(listener: Listener, part: FeedPart | undefined, from: bigint): void {
    const hash = part && hashAt(part, from, listener.place);
    // Others are further behind; the next part follows at once.
    if (hash === null) return;
    if (!part || hash !== listener.place.hash) {
      end(listener, 'lost');
      return;
    }
    const news = part.entries.filter(({ position }) => position > listener.place.position);
    const newest = news.at(-1);
    if (newest) listener.place = placeOf(newest);
    listener.receive(news);
  }

  function end(listener: Listener, reason: Parameters<Listener['end']>[0]): void {
    if (listeners.delete(listener)) listener.end(reason);
  }

  /** Reads what is new. True where there is more. */
  async function poll(): Promise<boolean> {
    const asked = [...listeners];
    if (asked.length === 0) return false;
    const heard = heardBy(asked);
    const credentialIds = [...new Set(asked.map(({ credential }) => credential.id))];
    const { feeds, valid } = await readFeeds(db, heard, credentialIds);
    for (const listener of asked) {
      const { id, organizationId } = listener.credential;
      if (!listeners.has(listener)) continue;
      if (!valid.has(id)) end(listener, 'over');
      else report(listener, feeds.get(organizationId), heard.get(organizationId) ?? 0n);
    }
    return [...feeds.values()].some(({ entries }) => entries.length === FEED_PAGE);
  }

  function schedule(ms = POLL_MS): void {
    if (timer || stopped || listeners.size === 0) return;
    timer = setTimeout(() => {
      poll()
        .catch((error) => {
          logger.warn({ err: error }, 'the feed of events could not be read');
          return false;
        })
        .then((hasMore) => {
          timer = undefined;
          schedule(hasMore ? 0 : POLL_MS);
        });
    }, ms);
  }

  return {
    read,
    next,
    listen,
    enter(credential, response) {
      if (stopped) throw stopping();
      enter(credential, response);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      for (const listener of [...listeners]) end(listener, 'stopping');
    },
  };
}
