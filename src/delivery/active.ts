/** The destinations that this process is sending to, each of which can be told at once that there may be more. */
export interface ActiveDeliveries {
  /** Notes one until it is over. Returns what waits for news of it, at most so long (ms), and what ends it. */
  begin(id: string): { readonly news: (ms: number) => Promise<void>; readonly end: () => void };
  /** Calls `listener` whenever one begins. */
  onBegin(listener: () => void): void;
  /** Wakes one. False where this process is not sending to it. */
  wake(id: string): boolean;
}

/** Creates the register of a process. */
export function createActiveDeliveries(): ActiveDeliveries {
  const active = new Map<string, { wake: () => void; hasNews: boolean }>();
  const nobody = () => {};
  let noteBegin = nobody;
  return {
    onBegin(listener) {
      noteBegin = listener;
    },
    begin(id) {
      noteBegin();
      const one = { wake: nobody, hasNews: false };
      active.set(id, one);
      return {
        news: (ms) =>
          new Promise((resolve) => {
            const done = () => {
              clearTimeout(timer);
              one.hasNews = false;
              one.wake = nobody;
              resolve();
            };
            const timer = setTimeout(done, one.hasNews ? 0 : ms);
            one.wake = done;
          }),
        end() {
          if (active.get(id) === one) active.delete(id);
        },
      };
    },
    wake(id) {
      const one = active.get(id);
      if (!one) return false;
      one.hasNews = true;
      one.wake();
      return true;
    },
  };
}
