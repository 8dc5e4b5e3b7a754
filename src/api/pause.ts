import { setImmediate as nextTurn } from 'node:timers/promises';

/** For how long one request works without a pause, in milliseconds. */
const SLICE_MS = 10;

/** Called between pieces of work: after 10 ms of it, lets other requests go on first. */
export type Pause = () => Promise<void>;

/** Creates the pause of one request. */
export function createPause(): Pause {
  let startedAt = performance.now();
  return async () => {
    if (performance.now() - startedAt < SLICE_MS) return;
    await nextTurn();
    startedAt = performance.now();
  };
}
