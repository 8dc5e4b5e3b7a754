import type { Schema } from '@orgwallet/client';
import { plainName } from '../domain/quotedName.ts';
import { actionText } from './audit.ts';
import { failureTitle } from './failures.ts';

type Entry = Pick<
  Schema['AuditLogEntry'],
  'id' | 'resourceId' | 'action' | 'actor' | 'details' | 'createdAt'
>;

/** Something that happened to a request. */
interface TimelineEvent {
  readonly id: string;
  readonly at: string;
  readonly text: string;
  /** What was said with it: the reason of a vote, or why an execution failed. */
  readonly reason: string | undefined;
  readonly tone: 'plain' | 'good' | 'danger';
  /** The chain transaction that it is about. */
  readonly transactionHash: string | undefined;
}

type Details = { readonly [field: string]: unknown };
const textIn = (details: Details, field: string): string | undefined =>
  typeof details[field] === 'string' ? details[field] : undefined;

const VOTES: { readonly [type: string]: string } = {
  initiator: 'signed as the initiator',
  approve: 'approved',
  reject: 'rejected',
};

const attemptText = ({ attempt }: Details) =>
  typeof attempt === 'number' && attempt > 1 ? ` (attempt ${attempt})` : '';

const blockText = ({ blockNumber }: Details) =>
  typeof blockNumber === 'number' ? ` in block ${blockNumber}` : '';

type Told = Pick<TimelineEvent, 'text'> & Partial<Pick<TimelineEvent, 'reason' | 'tone'>>;

function failed(title: string, details: Details): Told {
  const { code, message } = (details.failure ?? details) as Details;
  return {
    text: `${title}${attemptText(details)}: ${failureTitle(String(code))}`,
    reason: typeof message === 'string' ? message : undefined,
    tone: 'danger',
  };
}

/** What each verb of an entry says, after its resource. */
const TOLD: { readonly [verb: string]: (who: string, details: Details) => Told } = {
  created: (who) => ({ text: `${who} created it` }),
  signed: (who, details) => ({
    text: `${who} ${VOTES[String(details.type)] ?? 'signed'}`,
    reason: textIn(details, 'reason'),
    tone: details.type === 'reject' ? 'danger' : 'good',
  }),
  reminded: (_, details) => ({
    text: `Signatures were missing when ${details.reminder === 'half' ? 'half' : 'nine tenths'} of its time had passed`,
  }),
  executionStarted: (who, details) => ({
    text: `${who} ${details.decision === 'reject' ? 'executed the rejection' : `started the execution${attemptText(details)}`}`,
  }),
  executionRetried: (who, details) => ({ text: `${who} started the execution again${attemptText(details)}` }),
  broadcast: () => ({ text: 'Sent to the network' }),
  executed: (_, details) => ({ text: `Executed${blockText(details)}`, tone: 'good' }),
  rejected: () => ({ text: 'The rejection was executed: nothing was changed', tone: 'danger' }),
  blocked: (_, details) => failed('Not executed', details),
  executionFailed: (_, details) => failed('The execution failed', details),
  expired: () => ({ text: 'Expired', tone: 'danger' }),
  closed: (_, details) => ({
    text: 'An operator closed it',
    reason: textIn(details, 'reason'),
    tone: 'danger',
  }),
  cancellationRequested: () => ({ text: 'An operator requested its cancellation' }),
  reopened: (_, details) => ({ text: 'Opened again', reason: textIn(details, 'reason') }),
  signingStopped: (_, details) => ({
    text: 'The signer waits',
    reason: textIn(details, 'waitingFor'),
    tone: 'danger',
  }),
  recovered: () => ({ text: 'An operator restored it from the journal' }),
};

const NAMES: { readonly [type: string]: string } = { system: 'The service', operator: 'An operator' };

function eventOf({ id, action, actor, details, createdAt }: Entry): TimelineEvent {
  const verb = action.slice(action.indexOf('.') + 1);
  const who = NAMES[actor.type] ?? plainName(actor.name);
  const { text, reason, tone = 'plain' } = TOLD[verb]?.(who, details) ?? { text: actionText(action) };
  return { id, at: createdAt, text, reason, tone, transactionHash: textIn(details, 'transactionHash') };
}

/** What happened to a request, oldest first, from audit entries, newest first: those of another one are not its own. */
export const timelineOf = (id: string, entries: readonly Entry[]): readonly TimelineEvent[] =>
  entries
    .filter(({ resourceId }) => resourceId === id)
    .reverse()
    .map(eventOf);
