import { readFileSync } from 'node:fs';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { noteReached } from './reached';
import type { TestService } from './service';
import type { Browser } from './session';
import { until } from './until';

/** One event as a browser sees it. */
interface ServerEvent {
  readonly type: string;
  readonly id?: string;
  // biome-ignore lint/suspicious/noExplicitAny: what an event carries
  readonly data: any;
}

/** A stream of events that a browser listens to. */
export interface EventStream {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Those that have come so far. */
  readonly events: readonly ServerEvent[];
  /** The id that the browser sends when it connects again. */
  lastEventId(): string | undefined;
  /** True once the server has ended it. */
  ended(): boolean;
  /** Waits for an event. */
  next(type: string, limitMs?: number): Promise<ServerEvent>;
  close(): void;
}

const fieldOf = (block: string, name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1];

/** Reads events from parts of a stream. Source: HTML, section 9.2 (server-sent events). */
class EventReader {
  readonly events: ServerEvent[] = [];
  lastEventId: string | undefined;
  private unread = '';

  read(part: string): void {
    const blocks = (this.unread + part).split('\n\n');
    this.unread = blocks.pop() ?? '';
    for (const block of blocks) this.readBlock(block);
  }

  private readBlock(block: string): void {
    const id = fieldOf(block, 'id');
    this.lastEventId = id ?? this.lastEventId;
    const data = fieldOf(block, 'data');
    if (data === undefined) return;
    const type = fieldOf(block, 'event') ?? 'message';
    this.events.push({ type, data: JSON.parse(data), ...(id ? { id } : {}) });
  }
}

/** Who listens: a page of the service, or a program. */
export type ListensAs = Pick<Browser, 'cookie'> | { readonly key: string };

/** Listens to the feed of events: from now on, unless `query` says otherwise. */
export function listen(
  api: TestService,
  as: ListensAs,
  headers: Record<string, string> = {},
  query = 'after=latest',
): Promise<EventStream> {
  const asked: ClientRequest = request({
    ca: readFileSync(join(api.config.dataDir, 'tls', 'cert.pem'), 'utf8'),
    agent: false,
    host: '127.0.0.1',
    port: api.config.httpsPort,
    path: `/api/v1/events?${query}`,
    headers: {
      accept: 'text/event-stream',
      ...('key' in as
        ? { authorization: `Bearer ${as.key}` }
        : { cookie: as.cookie, 'sec-fetch-site': 'same-origin' }),
      ...headers,
    },
  });
  return new Promise((resolve, reject) => {
    asked.on('error', reject);
    asked.on('response', (response) => {
      const reader = new EventReader();
      let ended = false;
      response.setEncoding('utf8');
      response.on('error', () => undefined);
      response.on('close', () => {
        ended = true;
      });
      response.on('data', (part: string) => reader.read(part));
      const { events } = reader;
      noteReached('listEvents', response.statusCode ?? 0);
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        events,
        lastEventId: () => reader.lastEventId,
        ended: () => ended,
        next: (type, limitMs = 2_000) =>
          until(`the event ${type}`, async () => events.find((event) => event.type === type), limitMs),
        close: () => asked.destroy(),
      });
    });
    asked.end();
  });
}
