import { listEventsEndpoint } from '../../contract/eventContract';
import { CURSORS, cursorText, readCursors } from '../../domain/feedCursor';
import { feedEvent } from '../../domain/feedEvent';
import type { EventFeed } from '../eventFeed';
import { streamEvents } from '../eventStreams';
import { holdAnswer } from '../exchange';
import type { After, FeedPage } from '../feedPages';
import { badRequest } from '../refusals';
import { answerRoute, type Route } from '../requestContext';

const DEFAULT_LIMIT = 100;
const LAST_EVENT_ID = 'Last-Event-ID';

/** Where a caller goes on: a browser that connects again says so in a header, its URL stays the same. */
function afterOf(
  lastEventId: string | undefined,
  after: string | undefined,
): { field: string; after: After } {
  if (lastEventId === undefined || lastEventId === '') {
    return { field: 'after', after: after === 'latest' ? after : readCursors(after ?? '0') };
  }
  if (!CURSORS.test(lastEventId)) {
    throw badRequest([{ field: LAST_EVENT_ID, message: 'must be the id of an event' }]);
  }
  return { field: LAST_EVENT_ID, after: readCursors(lastEventId) };
}

function pageView({ entries, place, hasMore }: FeedPage) {
  return { data: entries.map(feedEvent), pagination: { cursor: cursorText(place), hasMore } };
}

/** GET /events. */
export function eventRoutes({ eventFeed }: { readonly eventFeed: EventFeed }): Route[] {
  return [
    answerRoute(listEventsEndpoint, async ({ credential, query }, { request, response }) => {
      const { limit = DEFAULT_LIMIT, types, wait = 0 } = query;
      const isHead = request.method === 'HEAD';
      const isStream = !isHead && (request.headers.accept ?? '').includes('text/event-stream');
      const { field, after } = afterOf(request.headers['last-event-id']?.toString(), query.after);
      const reader = { credential, types, field };
      if (isStream || wait > 0) eventFeed.enter(credential, response);
      const page = await eventFeed.read(reader, after, limit);
      if (isStream) {
        await streamEvents(eventFeed, reader, { response, first: page });
        return undefined;
      }
      if (page.entries.length > 0 || page.hasMore || wait === 0 || isHead) return pageView(page);
      const ms = wait * 1_000;
      const release = holdAnswer(response, ms);
      const next = await eventFeed.next(reader, page.place, { limit, ms, response });
      release();
      return pageView(next);
    }),
  ];
}
