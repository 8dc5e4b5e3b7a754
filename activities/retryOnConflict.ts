import { setTimeout as sleep } from 'node:timers/promises';

/** So many attempts before the activity fails, and Temporal retries it. */
const MOST = 20;
const PAUSE_MS = 10;

/**
 * Repeats `work`, which reads, decides and writes, while another writer has changed what it read (undefined), with growing
 * pauses so that many writers let each other pass. Throws after 20 conflicts.
 */
export async function retryOnConflict<T>(work: () => Promise<T | undefined>): Promise<T> {
  for (let times = 1; times <= MOST; times += 1) {
    const decided = await work();
    if (decided !== undefined) return decided;
    await sleep(Math.random() * PAUSE_MS * times);
  }
  throw new Error('each attempt conflicted with another writer');
}
