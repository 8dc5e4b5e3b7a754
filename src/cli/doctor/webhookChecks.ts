import type { Db } from '../../db/database';
import { destinationLags } from '../../db/destinations';
import { count, duration } from '../text';
import { type Finding, firstOf, ok, warn } from './finding';

/** What can be sent for longer is not sent by anybody. */
const LATE_MS = 60_000;

/** Webhooks that need somebody: disabled, paused, failing, or with events that nobody sends. */
export async function checkWebhooks(db: Db): Promise<Finding[]> {
  const part = 'webhooks';
  const lags = await destinationLags(db);
  const idsOf = (which: (lag: (typeof lags)[number]) => boolean) => lags.filter(which).map(({ id }) => id);
  const late = idsOf(({ dueMs }) => dueMs > LATE_MS);
  const paused = idsOf(({ isPaused }) => isPaused);
  const failing = idsOf(({ isFailing, isDisabled, isPaused }) => isFailing && !isDisabled && !isPaused);
  const findings = [
    ...(late.length > 0
      ? [
          warn(
            part,
            `${count(late.length, 'webhook has', 'webhooks have')} events that are not sent, the oldest for ${duration(Math.max(...lags.map(({ dueMs }) => dueMs)))}: ${firstOf(late)}`,
            'see the worker: no process sends',
          ),
        ]
      : []),
    ...(paused.length > 0
      ? [
          warn(
            part,
            `${count(paused.length, 'webhook is', 'webhooks are')} paused: ${firstOf(paused)}`,
            'run ./orgwallet webhooks resume, or channels resume, once that is settled',
          ),
        ]
      : []),
    ...(failing.length > 0
      ? [
          warn(
            part,
            `${count(failing.length, 'receiver does', 'receivers do')} not take events: ${firstOf(failing)}`,
            'tell its admins: it is disabled after 5 days (./orgwallet webhooks list, channels list)',
          ),
        ]
      : []),
  ];
  return findings.length > 0
    ? findings
    : [ok(part, `${count(lags.length, 'webhook has', 'webhooks have')} every event`)];
}
