import { setTimeout as pause } from 'node:timers/promises';

/** A run that takes longer does not keep the next one waiting, in milliseconds. */
const PATIENCE_MS = 50;

const idle = (ms: number) => pause(ms, undefined, { ref: false });

/** When the run after a run may begin; asked for once a call waits for that. */
type UntilNext = (running: Promise<unknown>) => () => Promise<unknown>;

/** Once the last run is over, and so many milliseconds after it has begun. */
export function everyMs(interval: number): UntilNext {
  return (running) => {
    const next = Promise.allSettled([running, idle(interval)]);
    return () => next;
  };
}

/** Once the last run is over, or slow. */
export const oneAtATime: UntilNext = (running) => {
  let isOver = false;
  const over = running
    .catch(() => undefined)
    .then(() => {
      isOver = true;
    });
  return () => (isOver ? over : Promise.race([over, idle(PATIENCE_MS)]));
};

/**
 * Makes calls share runs: each run has all keys that were asked for since the last one began, and begins after them. The
 * first one begins at once.
 */
export function createBatcher<V>(
  run: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>,
  untilNext: UntilNext,
): (key: string) => Promise<V | undefined> {
  let collecting: { keys: Set<string>; results: Promise<ReadonlyMap<string, V>> } | undefined;
  let mayRun: () => Promise<unknown> = () => Promise.resolve();

  function collect(): NonNullable<typeof collecting> {
    const keys = new Set<string>();
    const results = mayRun().then(() => {
      collecting = undefined;
      const running = run([...keys]);
      mayRun = untilNext(running);
      return running;
    });
    return { keys, results };
  }

  return async (key) => {
    collecting ??= collect();
    collecting.keys.add(key);
    return (await collecting.results).get(key);
  };
}
