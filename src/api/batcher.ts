import { setTimeout as pause } from 'node:timers/promises';

/**
 * Makes calls share runs: one run at a time and one per interval at most, each with all keys that were asked for
 * meanwhile. A call while none is running and the interval is over runs at once.
 */
export function createBatcher<V>(
  run: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>,
  intervalMs: number,
): (key: string) => Promise<V | undefined> {
  let collecting: { keys: Set<string>; results: Promise<ReadonlyMap<string, V>> } | undefined;
  let mayRun: Promise<unknown> = Promise.resolve();

  function collect(): NonNullable<typeof collecting> {
    const keys = new Set<string>();
    const results = mayRun.then(() => {
      collecting = undefined;
      const running = run([...keys]);
      mayRun = Promise.allSettled([running, pause(intervalMs, undefined, { ref: false })]);
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
