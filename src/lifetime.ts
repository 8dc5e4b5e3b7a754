import type { Logger } from './logging';
import { withTimeLimit } from './timeLimit';

/** What a process releases when it stops, in reverse order of its start: requests, work, then connections. */
export interface Lifetime {
  readonly stopped: () => boolean;
  /** Resolves with the first error that `fail` reports; never while everything can go on. */
  readonly failed: Promise<Error>;
  /** The first error that `fail` has reported. */
  readonly failure: () => Error | undefined;
  /** Aborted when the process is to end, also while it starts: what waits in a start waits no longer. */
  readonly ending: AbortSignal;
  /** Reports that this process must end. */
  fail(error: Error): void;
  /**
   * Registers a stop that runs before all that are registered so far. One that takes longer than its limit, in milliseconds,
   * is left behind: no library decides how long a process takes to end. Once the process is to end it throws the reason of
   * `ending`, after it has registered: a start goes no further.
   */
  onStop(name: string, stop: () => Promise<void>, limitMs?: number): void;
  /** Stops everything, whatever fails. Rejects with the first failure, or with what has not stopped within its limit. */
  stop(): Promise<void>;
}

/** A query that is under way may take 9 s. */
const STOP_LIMIT_MS = 10_000;

/** Creates an empty lifetime. `ending` is aborted when the process is to end. */
export function createLifetime(
  logger: Pick<Logger, 'error'>,
  ending = new AbortController().signal,
): Lifetime {
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
    ending,
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
      // What runs already registers nothing more; what stops is not to throw.
      if (!stopped) ending.throwIfAborted();
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
