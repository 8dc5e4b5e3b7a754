import { setImmediate as nextTurn } from 'node:timers/promises';

/** For how long one request works without a pause, in milliseconds. */
const SLICE_MS = 10;

/** Called between pieces of work: after 10 ms of it, lets other requests go on first. */
export type Pause = () => Promise<void>;

/** Creates the pause of one request. */
export function createPause(): Pause {
  let begun = performance.now();
  return async () => {
    if (performance.now() - begun < SLICE_MS) return;
    await nextTurn();
    begun = performance.now();
  };
}
