import { setTimeout as sleep } from 'node:timers/promises';
import { isUnavailable } from './databaseFailure';

/** How long a start waits for Postgres, which may start at the same time, or be replaced by its standby. */
export const START_WAIT_MS = 60_000;
export const START_RETRY_MS = 500;

/**
 * Repeats a step of a start that only reads or writes Postgres while that does not answer, or cannot serve now, for 60 s at
 * most. Throws its last error then, one that `isFinal` at once, and where `signal` is aborted an AbortError.
 */
export async function untilAvailable<T>(
  step: () => Promise<T>,
  { signal, isFinal = () => false }: { signal: AbortSignal; isFinal?: (error: unknown) => boolean },
): Promise<T> {
  const deadline = performance.now() + START_WAIT_MS;
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (isFinal(error) || !isUnavailable(error) || performance.now() > deadline) throw error;
    }
    await sleep(START_RETRY_MS, undefined, { signal });
  }
}
