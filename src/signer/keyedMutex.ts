/** Runs work after all earlier work with the same key has ended. */
export type KeyedMutex<Key = number> = <T>(key: Key, work: () => Promise<T>) => Promise<T>;

/**
 * Creates a mutex per key. Work that needs the same database lock waits here instead, without a connection
 * meanwhile.
 */
export function createKeyedMutex<Key = number>(): KeyedMutex<Key> {
  const last = new Map<Key, Promise<unknown>>();
  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const done = before.then(work, work);
    const forget = () => {
      if (last.get(key) === ended) last.delete(key);
    };
    const ended = done.then(forget, forget);
    last.set(key, ended);
    return done;
  };
}
