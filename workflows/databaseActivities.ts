import { ApplicationFailure, proxyLocalActivities, type UntypedActivities } from '@temporalio/workflow';
import type { Parser } from '../src/temporal/messages';

/**
 * The activities that decide and write in one database transaction. Postgres decides; while it is unavailable these are
 * retried without end, so that no handler fails: an outcome recorded as an error would remain the answer to that
 * message for ever.
 */
export function databaseActivities<A extends UntypedActivities>(summary: string) {
  return proxyLocalActivities<A>({
    startToCloseTimeout: '20s',
    localRetryThreshold: '5s',
    retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '5s' },
    summary,
  });
}

/** The timer fires this long after its time: the signed expiry itself is still valid. */
const SLACK_MS = 20;
/** The pause before a time is checked again when the database's clock is behind. */
const MIN_TIMER_MS = 500;

/** How long to wait until a time (ms since 1970) is over, in milliseconds. */
export function untilMs(time: number): number {
  return Math.max(MIN_TIMER_MS, time - Date.now() + SLACK_MS);
}

/** Parses the input of a workflow; an invalid input fails it. */
export function parseInput<T>(parse: Parser<T>, input: unknown): T {
  try {
    return parse(input);
  } catch (error) {
    throw ApplicationFailure.nonRetryable((error as Error).message, 'InvalidInput');
  }
}
