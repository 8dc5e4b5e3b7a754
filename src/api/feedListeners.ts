import type { Logger } from 'pino';
import type { Credential } from '../db/credentials';
import type { Db } from '../db/database';
import { FEED_PAGE, type FeedPart, type FeedPlace, readFeeds } from '../db/feed';
import type { FeedEntry } from '../domain/feedEvent';
import { placeOf } from './feedPages';

const POLL_MS = 1_000;

/** Who hears of what is new. */
export interface Listener {
  readonly credential: Credential;
  /** Of the last entry that it has heard of. */
  place: FeedPlace;
  /** Every second, also where nothing is new. */
  receive(entries: readonly FeedEntry[]): void;
  /** `over`: its credential. `lost`: the log does not have any more what it has heard of. */
  end(reason: 'over' | 'lost' | 'stopping'): void;
}

/** Who listens on a process: one statement a second for all of them together, and none while nobody does. */
export interface FeedListeners {
  /** Begins to listen; returns what ends it. */
  add(listener: Listener): () => void;
  /** Ends all of it. */
  stop(): void;
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

/** Creates the listeners of a process. */
export function createFeedListeners(db: Db, logger: Logger): FeedListeners {
  const listeners = new Set<Listener>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function end(listener: Listener, reason: Parameters<Listener['end']>[0]): void {
    if (listeners.delete(listener)) listener.end(reason);
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
    add(listener) {
      listeners.add(listener);
      if (stopped) setImmediate(() => end(listener, 'stopping'));
      schedule();
      return () => listeners.delete(listener);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      for (const listener of [...listeners]) end(listener, 'stopping');
    },
  };
}
