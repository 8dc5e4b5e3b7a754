import { ApiError, type FeedEvent } from '@orgwallet/client';
import { inBackground, sessionEnded, unreachable } from './connection.ts';
import { sessions } from './sessions.ts';

/** What of an event says what to read again. */
export type Happened = Pick<FeedEvent, 'type' | 'resource'>;

interface Receiver {
  /** Something has happened. */
  readonly receive: (event: Happened) => void;
  /** Anything may have happened. */
  readonly miss: () => void;
}

const NAME = 'orgwallet.events';
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 15_000;

/** Whether something may have happened since the page was loaded that no stream of it has had. */
let hasMissed = false;

/**
 * Reports what happens. A session has few streams on a process, and many tabs: a tab has a stream while it is visible, and one of them
 * always has, which passes on what happens to those that have none. When they are shown, they go on where their own stream has ended:
 * only the count in their titles depends on another tab. Returns how to end it.
 */
export function followFeed({ receive, miss }: Receiver): () => void {
  const over = new AbortController();
  const { signal } = over;
  const tabs = new BroadcastChannel(NAME);
  let source: EventSource | undefined;
  /** The newest event that a stream of this session has had. */
  let cursor: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  // Without locks (over HTTP) tabs cannot agree on one.
  let listensAlways = navigator.locks === undefined;

  const connect = () => {
    if (document.visibilityState === 'hidden' && !listensAlways) {
      hasMissed = true;
      return;
    }
    const after = cursor;
    const opened = new EventSource(`/api/v1/events?after=${after ?? 'latest'}`);
    source = opened;
    opened.addEventListener('open', () => {
      unreachable.set(false);
      if (hasMissed && after === undefined) miss();
      hasMissed = false;
      pauseMs = FIRST_PAUSE_MS;
    });
    opened.addEventListener('message', ({ data, lastEventId }) => {
      cursor = lastEventId;
      const { type, resource }: Happened = JSON.parse(data);
      receive({ type, resource });
      tabs.postMessage({ type, resource });
    });
    opened.addEventListener('end', () => {
      opened.close();
      sessionEnded.set(true);
    });
    opened.addEventListener('error', () => {
      if (opened.readyState !== EventSource.CLOSED) return;
      // The browser does not try again after a refusal, which may be one of the cursor.
      cursor = undefined;
      hasMissed = true;
      timer = setTimeout(reconnect, pauseMs, opened);
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
    });
  };
  const reconnect = async (refused: EventSource) => {
    inBackground.set(true);
    try {
      if ((await sessions.current()) === null) sessionEnded.set(true);
    } catch (error) {
      // A refusal is an answer.
      if (!(error instanceof ApiError) || error.status >= 500) unreachable.set(true);
    }
    // Unless it was hidden meanwhile, or is over.
    if (source === refused) connect();
  };
  const disconnect = () => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const change = () => {
    if (listensAlways) return;
    disconnect();
    connect();
  };
  /** Listens for as long as it has the lock. */
  const listenAlways = () => {
    listensAlways = true;
    if (!source) connect();
    return new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve());
    });
  };

  connect();
  document.addEventListener('visibilitychange', change, { signal });
  tabs.addEventListener('message', ({ data }) => {
    if (source?.readyState !== EventSource.OPEN) receive(data);
  });
  navigator.locks?.request(NAME, { signal }, listenAlways).catch(() => {
    // It is over, or the browser has taken the lock of a page that it keeps for a return.
    listensAlways = false;
  });
  return () => {
    over.abort();
    tabs.close();
    disconnect();
    hasMissed = true;
  };
}
