import type { Logger } from './logging';
import { withTimeLimit } from './timeLimit';

/** What a process releases when it stops, in reverse order of its start: requests, work, then connections. */
export interface Lifetime {
  readonly stopped: () => boolean;
  /** Resolves with the first error that `fail` reports; never while everything can go on. */
  readonly failed: Promise<Error>;
  /** The first error that `fail` has reported. */
  readonly failure: () => Error | undefined;
  /** Reports that this process must end. */
  fail(error: Error): void;
  /**
   * Registers a stop that runs before all that are registered so far. One that takes longer than its limit, in milliseconds,
   * is left behind: no library decides how long a process takes to end.
   */
  onStop(name: string, stop: () => Promise<void>, limitMs?: number): void;
  /** Stops everything, whatever fails. Rejects with the first failure, or with what has not stopped within its limit. */
  stop(): Promise<void>;
}

/** A query that is under way may take 9 s. */
const STOP_LIMIT_MS = 10_000;

/** Creates an empty lifetime. */
export function createLifetime(logger: Pick<Logger, 'error'>): Lifetime {
  const stops: (() => Promise<void>)[] = [];
  let stopped = false;
  let failure: Error | undefined;
  let report: (error: Error) => void = () => undefined;
  const failed = new Promise<Error>((resolve) => {
    report = resolve;
  });
  return {
    stopped: () => stopped,
    failed,
    failure: () => failure,
    fail(error) {
      failure ??= error;
      report(error);
    },
    onStop(name, stop, limitMs = STOP_LIMIT_MS) {
      stops.unshift(async () =>
        withTimeLimit(stop(), limitMs, () => {
          throw new Error(`${name} did not stop within ${limitMs / 1_000} s`);
        }),
      );
    },
    async stop() {
      stopped = true;
      const failures: unknown[] = [];
      for (const stop of stops) {
        await stop().catch((error) => {
          logger.error({ err: error }, 'a part could not be stopped');
          failures.push(error);
        });
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}
