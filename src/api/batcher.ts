import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeLimit } from '../timeLimit';

/** After this long, in milliseconds, a run no longer delays the next one. */
const SLOW_RUN_MS = 50;

/** When the next run may begin. */
type UntilNext = (running: Promise<unknown>) => Promise<unknown>;

/** After the run, and at least so many milliseconds after it began. */
export function everyMs(intervalMs: number): UntilNext {
  return (running) => Promise.allSettled([running, sleep(intervalMs, undefined, { ref: false })]);
}

/** After the run, or once it is slow. */
export const afterRunOrSlow: UntilNext = (running) => {
  const over = () => undefined;
  return withTimeLimit(running.then(over, over), SLOW_RUN_MS);
};

/**
 * Makes calls share runs: each run has all keys that were asked for since the last one began, and begins after them. A
 * call that nothing delays begins one at once.
 */
export function createBatcher<V>(
  run: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>,
  untilNext: UntilNext,
): (key: string) => Promise<V | undefined> {
  let collecting: { keys: Set<string>; results: Promise<ReadonlyMap<string, V>> } | undefined;
  let mayRun: Promise<unknown> = Promise.resolve();

  function collect(): NonNullable<typeof collecting> {
    const keys = new Set<string>();
    const results = mayRun.then(() => {
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
