import { createStore } from '../state/store.ts';

/** True once the service has refused the session: it has ended, or was ended elsewhere. */
export const sessionEnded = createStore(false);

/** True while the last request did not reach the service. */
export const unreachable = createStore(false);

/**
 * True from an event of the service until the person does something: what is read meanwhile does not count as use of the
 * session, so that a page that is left open ends.
 */
export const inBackground = createStore(false);

/** `fetch` that says so of reads in the background. */
export function markedFetch(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const isRead = (init.method ?? 'GET').toUpperCase() === 'GET';
  if (!isRead || !inBackground.get()) return fetch(input, init);
  const headers = new Headers(init.headers);
  headers.set('X-Orgwallet-Background', '1');
  return fetch(input, { ...init, headers });
}

/** `fetch` that reports whether the service is reached, and whether the session has ended. */
export async function watchedFetch(...request: Parameters<typeof fetch>): Promise<Response> {
  let response: Response;
  try {
    response = await markedFetch(...request);
  } catch (error) {
    const { signal } = request[1] ?? {};
    // The page itself has ended the request: that says nothing about the service.
    if (!signal?.aborted || (signal.reason as Error | undefined)?.name === 'TimeoutError')
      unreachable.set(true);
    throw error;
  }
  unreachable.set(false);
  if (response.status === 401) sessionEnded.set(true);
  return response;
}
