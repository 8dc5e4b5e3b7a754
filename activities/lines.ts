/** Does something when everything that came before it with the same key is over. */
export type InLine = <T>(key: number, work: () => Promise<T>) => Promise<T>;

/**
 * Makes lines in which work waits, one for each key. What waits for the same lock of the database anyway waits here
 * instead, and holds no connection meanwhile.
 */
export function createLines(): InLine {
  const last = new Map<number, Promise<unknown>>();
  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const done = before.then(work, work);
    last.set(key, done);
    return done;
  };
}
