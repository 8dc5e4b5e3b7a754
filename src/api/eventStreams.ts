import type { Response } from 'express';
import type { FeedPlace } from '../db/feed';
import { cursorText } from '../domain/feedCursor';
import { type FeedEntry, feedEvent } from '../domain/feedEvent';
import type { EventFeed } from './eventFeed';
import { beginStream } from './exchange';
import type { Listener } from './feedListeners';
import type { FeedPage, Reader } from './feedPages';
import { writeAtPace } from './writeAtPace';

const PING_MS = 15_000;
const RETRY_MS = 1_000;
const PAGE = 500;
/** What a caller may leave unread, in bytes. */
const MAX_UNREAD = 262_144;

const idLine = (place: FeedPlace) => `id: ${cursorText(place)}\n`;

const eventText = (entry: FeedEntry) => `${idLine(entry)}data: ${JSON.stringify(feedEvent(entry))}\n\n`;

/** Writes all that is behind a page. Returns where the feed is known up to. */
async function catchUp(
  feed: EventFeed,
  reader: Reader,
  { response, first }: { readonly response: Response; readonly first: FeedPage },
): Promise<FeedPlace> {
  let page = first;
  for (;;) {
    // The place may be behind the last event that is shown.
    await writeAtPace(response, `${page.entries.map(eventText).join('')}${idLine(page.place)}\n`);
    if (!page.hasMore || response.closed) return page.place;
    page = await feed.read(reader, [page.place], PAGE);
  }
}

/** Streams to its caller what is new. */
function follow(feed: EventFeed, { credential, types }: Reader, response: Response, place: FeedPlace): void {
  let sentAtMs = performance.now();
  const send = (text: string) => {
    sentAtMs = performance.now();
    // Who does not read goes on later, from where it is.
    if (response.writableLength > MAX_UNREAD) response.destroy();
    else response.write(text);
  };
  const listener: Listener = {
    credential,
    place,
    receive(entries) {
      const shown = types ? entries.filter(({ action }) => types.has(action)) : entries;
      if (shown.length > 0) send(shown.map(eventText).join(''));
      else if (performance.now() - sentAtMs >= PING_MS) send(`: ping\n${idLine(listener.place)}\n`);
    },
    end(reason) {
      response.end(reason === 'over' ? 'event: end\ndata: {}\n\n' : '');
    },
  };
  const unlisten = feed.listen(listener);
  response.once('close', unlisten);
  if (response.closed) unlisten();
}

/**
 * Streams a feed from a page on (server-sent events; HTML, section 9.2): what there is at its caller's pace, then what is new
 * within a second. The id of each event is its cursor.
 */
export async function streamEvents(
  feed: EventFeed,
  reader: Reader,
  { response, first }: { readonly response: Response; readonly first: FeedPage },
): Promise<void> {
  beginStream(response);
  response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  // A proxy must not gather what it forwards.
  response.setHeader('X-Accel-Buffering', 'no');
  response.setHeader('Connection', 'close');
  response.write(`retry: ${RETRY_MS}\n\n`);
  try {
    const place = await catchUp(feed, reader, { response, first });
    follow(feed, reader, response, place);
  } catch {
    // Its caller connects again, and is told why there is no more.
    response.end();
  }
}
