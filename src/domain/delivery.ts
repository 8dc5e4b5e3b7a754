/** How an event is written and sent. Workflow, order, schedule and log are the same for all. How to add one: CONTRIBUTING. */
export type DestinationKind = 'webhook' | ChannelKind;

/** What people read: a notice is sent of an event, and of several one where many come at once. */
export const CHANNEL_KINDS = ['slack', 'discord', 'telegram', 'email'] as const;

/** A kind of destination that people read. */
export type ChannelKind = (typeof CHANNEL_KINDS)[number];

/** A kind of destination that people read in a chat. */
export type ChatKind = Exclude<ChannelKind, 'email'>;

/** Whether people read a destination. */
export function isChannelKind(kind: DestinationKind): kind is ChannelKind {
  return CHANNEL_KINDS.some((channel) => channel === kind);
}

/** Why nothing is sent: somebody wants it so, nothing was taken for 5 days, or the receiver has said that it is gone for good. */
export type DisabledFor = 'request' | 'failing' | 'gone';

/** Why an operator has to resume it: one has paused it, or the database was restored from a backup. */
export type PausedFor = 'operator' | 'restored';

/** Why something was sent: it happened, somebody wants it again, or as a test. */
export type DeliveryReason = 'event' | 'resend' | 'test';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The pauses between the attempts at one event, in ms: 75 h together. */
export const SCHEDULE_MS: readonly number[] = [
  ...[1 * SECOND, 5 * SECOND, 15 * SECOND, 1 * MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE],
  ...[1, 2, 4, 6, 8, 10, 12, 14, 17].map((hours) => hours * HOUR),
];

/** How far a pause is from its place in the schedule at most, either way: receivers that fail together are not asked together. */
const JITTER = 0.2;

/** After so long without an event that was taken, a destination is disabled: 5 days, in ms. */
export const DISABLE_AFTER_MS = 5 * 24 * HOUR;

/**
 * The pause after so many attempts that were not taken, in ms; undefined after the last one. `askedMs`: what the receiver asks
 * for, which makes it longer. `random`: from 0 to 1.
 */
export function pauseMs(attempts: number, askedMs: number | undefined, random: number): number | undefined {
  const planned = SCHEDULE_MS[attempts - 1];
  if (planned === undefined) return undefined;
  const jittered = planned * (1 + JITTER * (2 * random - 1));
  return Math.round(Math.max(jittered, askedMs ?? 0));
}

/** Whether an answer says that the receiver has what was sent: any 2xx, whatever its body is; null: there was no answer. */
export function isTaking(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** What became of one attempt. */
export interface DeliveryOutcome {
  /** The receiver has it. */
  readonly isTaken: boolean;
  /** The receiver wants nothing any more. */
  readonly isGone: boolean;
  /** The receiver does not take this, at whatever time: it is not tried again. */
  readonly isRefused?: boolean;
  /** Of the answer; null: there was none. */
  readonly status: number | null;
  /** Why there was no answer, in a word. */
  readonly fault: string | null;
  /** The same in words, without anything that the answer says, or the URL but its host. */
  readonly message: string | null;
  /** The beginning of the answer. */
  readonly answer: string | null;
  readonly durationMs: number;
  /** The pause that the receiver asks for, in ms. */
  readonly retryAfterMs?: number | undefined;
}

/** How a destination is, from its record. */
export function destinationStatus({
  disabledFor,
  pausedFor,
  attempts,
}: {
  readonly disabledFor: DisabledFor | null;
  readonly pausedFor: PausedFor | null;
  readonly attempts: number;
}): 'disabled' | 'paused' | 'failing' | 'active' {
  if (disabledFor) return 'disabled';
  if (pausedFor) return 'paused';
  return attempts > 0 ? 'failing' : 'active';
}

/** What a destination waits for, as its workflow sees it: ids and states, and neither URL nor secret. */
export interface DeliveryState {
  readonly status: 'upToDate' | 'behind' | 'failing' | 'disabled' | 'paused' | 'removed';
  readonly kind: DestinationKind;
  /** Where it is; a decimal string. */
  readonly position: string;
  readonly hash: string;
  readonly attempts: number;
  /** Why the last attempt was not taken. */
  readonly lastFailure: string | null;
  /** Until the next attempt, in ms. */
  readonly retryInMs: number | null;
  /** ISO 8601. */
  readonly nextAttemptAt: string | null;
  readonly failingSince: string | null;
  /** Why it is disabled or paused. */
  readonly reason: DisabledFor | PausedFor | null;
}

const RESUME = 'run `./orgwallet webhooks resume`, or `./orgwallet channels resume` for a channel';

const STOPPED: { readonly [reason in DisabledFor | PausedFor]: string } = {
  request: 'It is disabled. An admin enables it again.',
  failing:
    'It was disabled: nothing was taken for 5 days. An admin enables it again once the receiver works.',
  gone: 'It was disabled: the receiver has answered 410. An admin enables it again.',
  operator: `An operator has paused it. Send the signal \`resume\` (no argument), or ${RESUME}.`,
  restored:
    'The database has lost events that were sent: it was restored from a backup. Once that is settled, send the signal `resume` ' +
    `(no argument), or ${RESUME}.`,
};

/** What a destination waits for, in words for operators. */
export function deliveryText({
  status,
  attempts,
  lastFailure,
  nextAttemptAt,
  reason,
}: DeliveryState): string {
  switch (status) {
    case 'upToDate':
      return 'It has every event, and waits for the next one.';
    case 'behind':
      return 'Events are being sent.';
    case 'removed':
      return 'It was removed.';
    case 'failing':
      // A channel that gets few messages at a time.
      if (attempts === 0)
        return `More came than it is sent at a time: it gets one message of all that at ${nextAttemptAt}.`;
      return `The next event was not taken in ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'} (${lastFailure}). It is tried again at ${nextAttemptAt}; the signal \`refresh\` (no argument) tries it now.`;
    case 'disabled':
    case 'paused':
      return reason ? STOPPED[reason] : '';
  }
}
