import type { FailureCode, MemberSummary } from '../domain/approval';
import type { FeedEntry } from '../domain/feedEvent';
import type { MissingVotes } from '../domain/missingVotes';
import { fitting, plainBeginning, quotedName, summaryLines } from '../domain/summary';
import { type Notice, noticeOf } from './notice';
import type { Occasion } from './occasions';

/** A proposal or transaction as it is now, whatever it was when something happened to it. */
export interface RequestNow {
  readonly id: string;
  /** What is signed. */
  readonly summary: string;
  readonly expiresAt: Date;
  readonly closed: boolean;
  /** The signatures that it waits for; null: none. */
  readonly missing: MissingVotes | null;
  readonly failure: {
    readonly code: FailureCode;
    readonly message: string;
    readonly retryable: boolean;
    readonly resumes: boolean;
  } | null;
  /** What an execution waits for. */
  readonly waitingFor: string | null;
  /** Who has initiated or signed it, whether or not it counts now. */
  readonly involved: ReadonlySet<string>;
}

/** An occasion that is about a request. */
type RequestOccasion = Exclude<Occasion, 'security' | 'moneyIn'>;

type Entry = Pick<FeedEntry, 'action' | 'actor' | 'details'>;

/** Longest list of names, and longest reason, in bytes of UTF-8. */
const NAMES_BYTES = 400;
const REASON_BYTES = 600;

const WHAT_TO_DO: { readonly [code in FailureCode]: string } = {
  rpc: 'Execute it again once the network answers.',
  reverted: 'Remove the cause and execute it again, or reject it.',
  accountFunds: 'Fund the account on that network, and execute it again.',
  feeCeiling: 'Execute it again once gas is cheaper, or ask the operator to raise the ceiling.',
  relayerFunds: 'Ask the operator to fund the relayer.',
  policy: 'Propose a change of the policy, or reject it.',
  budget: 'Execute it again once the budget has room, or propose a change of the policy.',
  stale: 'Reject it, and request it again.',
  timeout: 'Execute it again.',
  endpoints: 'Ask the operator to set endpoints of the signer for that network.',
  closedByOperator: 'Ask the operator, and request it again.',
};

const TITLES: { readonly [verb: string]: string } = {
  executed: 'Executed',
  rejected: 'Rejected',
  expired: 'Expired',
  closed: 'Closed by an operator',
  recovered: 'Restored by an operator',
  executionFailed: 'Not executed: it failed',
  blocked: 'Not executed: a check refused it',
  signingStopped: 'The signer waits',
  reopened: 'The network has lost its block: it is executed again',
};

const namesOf = (members: readonly MemberSummary[]) =>
  members.length === 0
    ? 'nobody may sign it now'
    : fitting(
        members.map(({ name }) => quotedName(name)),
        NAMES_BYTES,
      );

const signatures = (count: number) => (count === 1 ? '1 signature' : `${count} signatures`);

/** `2025-06-08 12:00 UTC` */
const timeText = (time: Date) => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

function missingLines({ members }: MissingVotes, { expiresAt }: RequestNow): string[] {
  return [`Missing: ${namesOf(members)}`, `Expires: ${timeText(expiresAt)}`];
}

function shareOf(details: FeedEntry['details']): string {
  return details.reminder === 'half' ? 'half' : 'nine tenths';
}

/**
 * Whether the signatures that are missing are those that an event asks for. Who creates a transaction of their own signs it next:
 * nobody tells them.
 */
function asks({ action, actor }: Entry, { type, members }: MissingVotes): boolean {
  if (action === 'transaction.created')
    return type === 'initiator' && !members.some(({ id }) => id === actor.id);
  return type === 'approve';
}

function toDoOf({ failure, waitingFor, closed }: RequestNow): string[] {
  if (failure === null) return waitingFor === null ? [] : [`Waits for: ${waitingFor}`];
  const { code, message, retryable, resumes } = failure;
  const next = resumes ? `${WHAT_TO_DO[code]} It then goes on by itself.` : WHAT_TO_DO[code];
  return [
    `Why: ${plainBeginning(message, REASON_BYTES)}`,
    `What to do: ${closed || !retryable ? 'It cannot be executed again: whoever still wants it requests it again.' : next}`,
  ];
}

/** The title of a notice, and what it has besides what was requested; null where there is nothing to say any more. */
function contentOf(
  occasion: RequestOccasion,
  entry: Entry,
  request: RequestNow,
): readonly [string, readonly string[]] | null {
  const { missing } = request;
  const { action, details } = entry;
  const verb = action.slice(action.indexOf('.') + 1);
  switch (occasion) {
    case 'asked':
      return missing && asks(entry, missing)
        ? [`${signatures(missing.needed)} wanted`, missingLines(missing, request)]
        : null;
    case 'reminder':
      return (
        missing && [
          `${signatures(missing.needed)} missing, and ${shareOf(details)} of the time is over`,
          missingLines(missing, request),
        ]
      );
    case 'failed':
      // It has gone on since.
      if (request.closed && !request.failure) return null;
      return [TITLES[verb] ?? 'Not executed', toDoOf(request)];
    case 'decided':
      return [TITLES[verb] ?? 'Decided', []];
  }
}

/**
 * The notice of what happened to a request, with what was requested as it is signed; null where nobody can act on it any more.
 * `page` is its page in the console.
 */
export function requestNotice(
  occasion: RequestOccasion,
  entry: Entry,
  { organization, request, page }: { organization: string; request: RequestNow; page: string | null },
): Notice | null {
  const content = contentOf(occasion, entry, request);
  if (content === null) return null;
  const [title, more] = content;
  return noticeOf(title, [quotedName(organization), ...summaryLines(request.summary), ...more], page);
}

/**
 * Whether a member is told by their own mail what happened to a request: asked and reminded is who can sign it and has not; of
 * its end and failures hears who has signed it.
 */
export function concerns(
  occasion: RequestOccasion,
  { missing, involved }: RequestNow,
  memberId: string,
): boolean {
  if (occasion === 'asked' || occasion === 'reminder') {
    return missing?.members.some(({ id }) => id === memberId) === true;
  }
  return involved.has(memberId);
}
