/** What a process releases when it stops, the latest first: no new requests, no new work, then the connections. */
export interface Lifetime {
  readonly stopped: () => boolean;
  /** Registers what is to be stopped before everything registered so far. */
  onStop(stop: () => Promise<void>): void;
  /** Stops everything. Rejects with the first failure, and leaves the rest as it is. */
  stop(): Promise<void>;
}

/** Makes a lifetime in which nothing has been started yet. */
export function createLifetime(): Lifetime {
  const stops: (() => Promise<void>)[] = [];
  let stopped = false;
  return {
    stopped: () => stopped,
    onStop(stop) {
      stops.unshift(stop);
    },
    async stop() {
      stopped = true;
      for (const stop of stops) await stop();
    },
  };
}
