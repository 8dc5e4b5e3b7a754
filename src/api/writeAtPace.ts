import { once } from 'node:events';
import type { Response } from 'express';

/** Writes what an answer takes at its caller's pace; resolves when there is room for more, or it is closed. */
export async function writeAtPace(response: Response, text: string): Promise<void> {
  if (response.closed || response.write(text) || response.closed) return;
  const closed = new AbortController();
  const close = () => closed.abort();
  response.once('close', close);
  await once(response, 'drain', { signal: closed.signal }).catch(() => undefined);
  response.off('close', close);
}
