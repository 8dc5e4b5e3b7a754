import type { Schema } from '@orgwallet/client';
import { dateTime } from './time.ts';

/** What a webhook waits for, in words. */
export function webhookState(webhook: Schema['Webhook']): string {
  const { status, reason, lastFailure, nextAttemptAt, attempts } = webhook;
  if (status === 'active') return 'active';
  if (status === 'failing') {
    const next = nextAttemptAt ? `; next attempt ${dateTime(nextAttemptAt)}` : '';
    return `failing after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}: ${lastFailure}${next}`;
  }
  if (status === 'paused') {
    return reason === 'restored'
      ? 'paused: the database was restored from a backup; an operator resumes it'
      : 'paused by an operator';
  }
  if (reason === 'failing') return 'disabled: nothing was accepted for 5 days';
  return reason === 'gone' ? 'disabled: the receiver answered 410' : 'disabled';
}

/** What became of an attempt, in words. */
export function deliveryOutcome({ delivered, status, message, fault }: Schema['WebhookDelivery']): string {
  if (status !== null) return `${delivered ? 'accepted' : 'not accepted'}: ${status}`;
  return `not accepted: ${message ?? fault}`;
}
