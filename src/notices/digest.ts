import { plainBeginning, quotedName } from '../domain/summary';
import { type Notice, noticeOf } from './notice';

/** Most messages that a channel gets within WINDOW_MS. */
export const MOST_MESSAGES = 10;
export const WINDOW_MS = 600_000;

/** Longest line of a digest, in bytes of UTF-8, and most lines. */
const LINE_BYTES = 140;
const MOST_LINES = 10;

/** How what is due is sent: each notice, all of them in one message, or not yet. */
type Sending = 'each' | 'digest' | { readonly waitMs: number };

/**
 * How so many notices are sent, after messages that were sent at these times (ms since 1970): never more than MOST_MESSAGES
 * messages within WINDOW_MS, and none later than that demands.
 */
export function sendingOf(pending: number, sentAt: readonly number[], now: number): Sending {
  const recent = sentAt.filter((at) => at > now - WINDOW_MS).sort((one, two) => one - two);
  const left = MOST_MESSAGES - recent.length;
  if (pending <= left) return 'each';
  if (left > 0) return 'digest';
  // Once this one has left the window, one message may follow.
  const leaving = recent[recent.length - MOST_MESSAGES] ?? now;
  return { waitMs: leaving + WINDOW_MS - now };
}

/** One notice of several, in their order: the first ones on a line each, and how many more there are. */
export function digestOf(notices: readonly Notice[], organization: string, link: string | null): Notice {
  const shown = notices.slice(0, MOST_LINES).map(({ title, lines: [, about] }, i) => {
    const text = about === undefined ? title : `${title}: ${about}`;
    return plainBeginning(`${i + 1}. ${text}`, LINE_BYTES);
  });
  const more = notices.length - shown.length;
  const rest = more > 0 ? [`and ${more} more`] : [];
  return noticeOf(`${notices.length} notices`, [quotedName(organization), ...shown, ...rest], link);
}
