import { createStore } from './store.ts';

/** True once the service has refused the session: it has ended, or was ended elsewhere. */
export const sessionOver = createStore(false);

/** True while the last request did not reach the service. */
export const unreachable = createStore(false);

/** `fetch` that reports whether the service is reached, and whether the session is over. */
export async function watchedFetch(...request: Parameters<typeof fetch>): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(...request);
  } catch (error) {
    const { signal } = request[1] ?? {};
    // The page itself has ended the request: that says nothing about the service.
    if (!signal?.aborted || (signal.reason as Error | undefined)?.name === 'TimeoutError')
      unreachable.set(true);
    throw error;
  }
  unreachable.set(false);
  if (response.status === 401) sessionOver.set(true);
  return response;
}
