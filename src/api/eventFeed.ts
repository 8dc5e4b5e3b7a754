import type { Response } from 'express';
import type { Logger } from 'pino';
import type { Db } from '../db/database';
import type { FeedPlace } from '../db/feed';
import { credentialEnded } from '../domain/credential';
import { createFeedListeners, type FeedListeners } from './feedListeners';
import { type After, type FeedPage, type Reader, readFeedPage, take } from './feedPages';
import { createListeningLimit, type EnterListening } from './listeningLimit';
import { Refused, unavailable } from './refusals';

/** How long a request waits for an entry, and for how many. */
interface Wait {
  readonly limit: number;
  readonly ms: number;
  readonly response: Response;
}

/** The feeds of a process. */
export interface EventFeed {
  /** Reads at most so many entries of a feed, as `readFeedPage` does. */
  read(reader: Reader, after: After, limit: number): Promise<FeedPage>;
  /** Waits until there is an entry behind a place, or the time (ms) is over, or the caller has left: then there is none. */
  next(reader: Reader, place: FeedPlace, wait: Wait): Promise<FeedPage>;
  readonly listen: FeedListeners['add'];
  readonly enter: EnterListening;
  /** Ends all of it; callers go on elsewhere. */
  stop(): void;
}

/** Waits among the listeners for the next entry that is for a reader. */
function waitFor(
  listeners: FeedListeners,
  { credential, types }: Reader,
  place: FeedPlace,
  { limit, ms, response }: Wait,
): Promise<FeedPage> {
  return new Promise((resolve, reject) => {
    let reached = place;
    const done = (page: FeedPage) => {
      clearTimeout(over);
      unlisten();
      resolve(page);
    };
    const doneWithNone = () => done({ entries: [], place: reached, hasMore: false });
    const over = setTimeout(doneWithNone, ms);
    const unlisten = listeners.add({
      credential,
      place,
      receive(entries) {
        const page = take(entries, { types }, { from: reached, limit });
        reached = page.place;
        if (page.entries.length > 0) done(page);
      },
      end(reason) {
        if (reason !== 'over') return doneWithNone();
        clearTimeout(over);
        reject(new Refused(credentialEnded(credential.id)));
      },
    });
    response.once('close', doneWithNone);
    // It was closed while the feed was read.
    if (response.closed) doneWithNone();
  });
}

/** Creates the feeds of a process. */
export function createEventFeed(db: Db, logger: Logger): EventFeed {
  const listeners = createFeedListeners(db, logger);
  const enter = createListeningLimit();
  let stopped = false;
  const assertRunning = () => {
    if (stopped) throw unavailable('the service is stopping; connect again');
  };
  return {
    async read(reader, after, limit) {
      assertRunning();
      return readFeedPage(db, reader, after, limit);
    },
    next: (reader, place, wait) => waitFor(listeners, reader, place, wait),
    listen: listeners.add,
    enter(credential, response) {
      assertRunning();
      enter(credential, response);
    },
    stop() {
      stopped = true;
      listeners.stop();
    },
  };
}
