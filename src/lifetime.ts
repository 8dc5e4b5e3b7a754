/** What a process releases when it stops, in reverse order of its start: requests, work, then connections. */
export interface Lifetime {
  readonly stopped: () => boolean;
  /** Registers a stop that runs before all that are registered so far. */
  onStop(stop: () => Promise<void>): void;
  /** Stops everything. Rejects with the first failure, without stopping the rest. */
  stop(): Promise<void>;
}

/** Creates an empty lifetime. */
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
