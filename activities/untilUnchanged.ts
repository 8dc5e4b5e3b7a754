import { setTimeout as sleep } from 'node:timers/promises';

/** So often is something decided again before its activity fails, and is retried. */
const MOST = 20;
const PAUSE_MS = 10;

/**
 * Decides and writes something, again while what it was decided upon changes meanwhile (undefined), with growing pauses so
 * that many who write at once let each other pass. Throws when that goes on.
 */
export async function untilUnchanged<T>(decide: () => Promise<T | undefined>): Promise<T> {
  for (let times = 1; times <= MOST; times += 1) {
    const decided = await decide();
    if (decided !== undefined) return decided;
    await sleep(Math.random() * PAUSE_MS * times);
  }
  throw new Error('what it is decided upon has changed each time');
}
