/** What a process releases when it stops, in reverse order of its start: requests, work, then connections. */
export interface Lifetime {
  readonly stopped: () => boolean;
  /** Resolves with the first error that `fail` reports; never while everything can go on. */
  readonly failed: Promise<Error>;
  /** Reports that this process must end. */
  fail(error: Error): void;
  /** Registers a stop that runs before all that are registered so far. */
  onStop(stop: () => Promise<void>): void;
  /** Stops everything. Rejects with the first failure, without stopping the rest. */
  stop(): Promise<void>;
}

/** Creates an empty lifetime. */
export function createLifetime(): Lifetime {
  const stops: (() => Promise<void>)[] = [];
  let stopped = false;
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<Error>((resolve) => {
    fail = resolve;
  });
  return {
    stopped: () => stopped,
    failed,
    fail,
    onStop(stop) {
      stops.unshift(stop);
    },
    async stop() {
      stopped = true;
      for (const stop of stops) await stop();
    },
  };
}
