import type { ItemOf, QueryOf, ResponseOf } from './endpoints.ts';
import { ApiError, NoAnswer } from './errors.ts';
import { type Connection, pause, send } from './exchange.ts';

const MAX_WAIT_SECONDS = 25;
/** What an answer takes besides waiting. */
const SPARE_SECONDS = 5;
const PAUSE_MS = 5_000;
/** Between two requests that do not wait. */
const POLL_MS = 1_000;

/** Something that happened, and where the feed goes on behind it. */
export type FeedEvent = ItemOf<'listEvents'> & {
  /**
   * `after` of a later call: store it with what the event has changed. It names some earlier events besides, so that an
   * ApiError `gone` says in `details.position` up to where a restored database still has them.
   */
  readonly cursor: string;
};

/** What is followed. */
export interface EventOptions {
  /** The `cursor` of the last event that was handled, or `latest`. Absent: from the first event on. */
  readonly after?: string | undefined;
  /** Absent: every type. */
  readonly types?: NonNullable<QueryOf<'listEvents'>>['types'];
  /** Ends it, with its reason. */
  readonly signal?: AbortSignal | undefined;
}

const positionOf = (cursor: string) => BigInt(cursor.split('-', 1)[0] ?? 0);

/** Cursors behind each other, newest first: of each power of two of the distance one at most. */
function withEarlier(cursor: string, earlier: readonly string[]): string[] {
  const kept = new Map<number, string>();
  // `latest`, and a position without a hash, say nothing about what the log has.
  const compared = earlier.filter((one) => one.includes('-'));
  for (const one of compared) kept.set((positionOf(cursor) - positionOf(one)).toString(2).length, one);
  return [cursor, ...kept.values()].slice(0, 40);
}

/**
 * Every event in its order, without an end: it waits for what comes, and goes on after a restart or a broken connection. Throws
 * ApiError where the service refuses (`gone`: the database was restored from a backup), NoAnswer where it has never
 * answered, and the reason of the signal.
 */
export async function* followEvents(
  connection: Connection,
  { after, types, signal }: EventOptions = {},
): AsyncGenerator<FeedEvent, void> {
  const { requestTimeoutMs = 30_000, timeoutMs = 60_000 } = connection;
  const wait = Math.max(0, Math.min(MAX_WAIT_SECONDS, Math.floor(requestTimeoutMs / 1_000) - SPARE_SECONDS));
  let cursors = after === undefined ? [] : after.split(',');
  let hasAnswered = false;

  async function nextPage(): Promise<ResponseOf<'listEvents'> | undefined> {
    // The first one shows whether there is a service at all.
    const seconds = hasAnswered ? wait : 0;
    const query = new URLSearchParams({ wait: String(seconds), limit: '100' });
    if (cursors.length > 0) query.set('after', cursors.join());
    if (types) query.set('types', types.join());
    const options = { signal, timeoutMs: Math.max(timeoutMs, (seconds + SPARE_SECONDS) * 1_000) };
    try {
      const page = await send(connection, { method: 'GET', path: `/events?${query}` }, options);
      hasAnswered = true;
      return page as ResponseOf<'listEvents'>;
    } catch (error) {
      const isTemporary = error instanceof ApiError ? error.isTemporary : error instanceof NoAnswer;
      if (!isTemporary || !hasAnswered) throw error;
      await pause(PAUSE_MS, signal);
      return undefined;
    }
  }

  for (;;) {
    const page = await nextPage();
    if (!page) continue;
    for (const event of page.data) {
      cursors = withEarlier(`${event.position}-${event.hash}`, cursors);
      yield { ...event, cursor: cursors.join() };
    }
    const { cursor } = page.pagination;
    if (cursor !== cursors[0]) cursors = withEarlier(cursor, cursors);
    if (wait === 0 && page.data.length === 0) await pause(POLL_MS, signal);
  }
}
