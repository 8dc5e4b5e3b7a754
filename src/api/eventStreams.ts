import type { Response } from 'express';
import type { Logger } from 'pino';
import { MAX_CHANGES, type ReportedChange, readChanges, readLastPosition } from '../db/changes';
import type { SessionCredential } from '../db/credentials';
import type { Db } from '../db/database';
import { beginStream } from './exchange';
import { Refused, unavailable } from './refusals';

const POLL_MS = 1_000;
const PING_MS = 15_000;
const RETRY_MS = 1_000;
const MAX_PER_SESSION = 4;
/** What a browser may leave unread, in bytes. */
const MAX_UNREAD = 262_144;

/** The streams of changes that a process sends to browsers. */
export interface EventStreams {
  /** Begins a stream of the changes in the organization of a session. `lastEventId`: goes on after that one. */
  open(response: Response, session: SessionCredential, lastEventId: string | undefined): Promise<void>;
  /** Ends all streams; browsers connect again elsewhere. */
  stop(): void;
}

/** One browser that listens. */
interface Stream {
  readonly response: Response;
  readonly session: SessionCredential;
  /** Of the last change that it was notified of. */
  position: bigint;
  sentAtMs: number;
}

function changeText({ position, action, resourceType, resourceId }: ReportedChange): string {
  return `id: ${position}\nevent: change\ndata: ${JSON.stringify({ resourceType, resourceId, action })}\n\n`;
}

/** Where a stream goes on; undefined when it is too far behind, or was never there. */
function resumeAt(lastEventId: string | undefined, last: bigint): bigint | undefined {
  if (lastEventId === undefined) return last;
  if (!/^\d{1,18}$/.test(lastEventId)) return undefined;
  const position = BigInt(lastEventId);
  return position <= last && last - position <= MAX_CHANGES ? position : undefined;
}

/** The position after which each organization is read: that of its stream that is furthest behind. */
function heardBy(streams: Iterable<Stream>): Map<string, bigint> {
  const heard = new Map<string, bigint>();
  for (const { session, position } of streams) {
    const known = heard.get(session.organizationId);
    if (known === undefined || position < known) heard.set(session.organizationId, position);
  }
  return heard;
}

/** Creates the streams of a process: one statement a second for all together, and none while nobody listens. */
export function createEventStreams(db: Db, logger: Logger): EventStreams {
  const streams = new Set<Stream>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function end(stream: Stream, farewell = ''): void {
    streams.delete(stream);
    stream.response.end(farewell);
  }

  function send(stream: Stream, text: string): void {
    stream.sentAtMs = performance.now();
    stream.response.write(text);
    if (stream.response.writableLength > MAX_UNREAD) {
      streams.delete(stream);
      stream.response.destroy();
    }
  }

  function report(stream: Stream, changes: readonly ReportedChange[]): void {
    const { organizationId } = stream.session;
    const news = changes.filter(
      (change) => change.organizationId === organizationId && change.position > stream.position,
    );
    const newest = news.at(-1);
    if (newest) {
      stream.position = newest.position;
      send(stream, news.map(changeText).join(''));
    } else if (performance.now() - stream.sentAtMs >= PING_MS) {
      send(stream, ': ping\n\n');
    }
  }

  async function poll(): Promise<void> {
    const asked = [...streams];
    if (asked.length === 0) return;
    const sessionIds = [...new Set(asked.map(({ session }) => session.id))];
    const { changes, valid } = await readChanges(db, heardBy(asked), sessionIds);
    for (const stream of asked) {
      if (!streams.has(stream)) continue;
      if (valid.has(stream.session.id)) report(stream, changes);
      else end(stream, 'event: end\ndata: {}\n\n');
    }
  }

  function schedule(): void {
    if (timer || stopped || streams.size === 0) return;
    timer = setTimeout(() => {
      poll()
        .catch((error) => logger.warn({ err: error }, 'changes could not be read for browsers'))
        .finally(() => {
          timer = undefined;
          schedule();
        });
    }, POLL_MS);
  }

  function assertRoom(session: SessionCredential): void {
    if (stopped) throw unavailable('the service is stopping; connect again');
    if ([...streams].filter((stream) => stream.session.id === session.id).length < MAX_PER_SESSION) return;
    throw new Refused(
      { code: 'rateLimited', message: `this session has ${MAX_PER_SESSION} streams, the maximum` },
      { headers: { 'Retry-After': '1' } },
    );
  }

  return {
    async open(response, session, lastEventId) {
      assertRoom(session);
      const last = await readLastPosition(db, session.organizationId);
      if (response.closed) return;
      // Others may have come meanwhile.
      assertRoom(session);
      const resumed = resumeAt(lastEventId, last);
      const stream: Stream = { response, session, position: resumed ?? last, sentAtMs: performance.now() };
      beginStream(response);
      response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
      // A proxy must not gather what it forwards.
      response.setHeader('X-Accel-Buffering', 'no');
      response.setHeader('Connection', 'close');
      response.once('close', () => streams.delete(stream));
      streams.add(stream);
      const start = `retry: ${RETRY_MS}\nid: ${stream.position}\n\n`;
      send(stream, resumed === undefined ? `${start}event: reset\ndata: {}\n\n` : start);
      schedule();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      for (const stream of [...streams]) end(stream);
    },
  };
}
