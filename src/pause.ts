import { setImmediate as nextTurn } from 'node:timers/promises';

/** For how long one piece of work goes on without a pause, in milliseconds. */
const SLICE_MS = 10;

/** Called between parts of a piece of work: after 10 ms of it, lets others go on first. */
export type Pause = () => Promise<void>;

/** Creates the pause of one piece of work, such as a request. */
export function createPause(): Pause {
  let startedAt = performance.now();
  return async () => {
    if (performance.now() - startedAt < SLICE_MS) return;
    await nextTurn();
    startedAt = performance.now();
  };
}

/** What `map` makes of each item, in their order, with pauses between them. */
export async function mapWithPauses<T, R>(
  items: readonly T[],
  pause: Pause,
  map: (item: T) => R,
): Promise<R[]> {
  const mapped: R[] = [];
  for (const item of items) {
    mapped.push(map(item));
    await pause();
  }
  return mapped;
}
