/** Runs work after all earlier work with the same key has ended. */
export type KeyedMutex = <T>(key: number, work: () => Promise<T>) => Promise<T>;

/**
 * Creates a mutex per key. Work that needs the same database lock waits here instead, without a connection
 * meanwhile.
 */
export function createKeyedMutex(): KeyedMutex {
  const last = new Map<number, Promise<unknown>>();
  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const done = before.then(work, work);
    last.set(key, done);
    return done;
  };
}
