import type { AuditBreak } from '@orgwallet/client';
import type { AuditBreaks, CheckedList } from '../domain/auditCheck.ts';

const ends = (hash: string) => (hash.length > 20 ? `${hash.slice(0, 8)}…${hash.slice(-6)}` : `“${hash}”`);

function positionText(found: string, expected: string): string {
  const isLater = /^\d+$/.test(found) && BigInt(found) > BigInt(expected);
  if (!isLater) return `Its position is “${found}”, where entry ${expected} belongs.`;
  const last = String(BigInt(found) - 1n);
  return last === expected
    ? `Entry ${expected} is missing before it.`
    : `Entries ${expected} to ${last} are missing before it.`;
}

/** What differs in an entry of the audit log, as a sentence. */
export function breakText({ entry, field, expected }: AuditBreak): string {
  switch (field) {
    case 'hash':
      return `It is not what was recorded: its hash is ${ends(entry.hash)}, and its content has ${ends(expected)}.`;
    case 'previousHash':
      return `It does not continue the entry before it, which has the hash ${ends(expected)}: it names ${ends(entry.previousHash)}.`;
    case 'position':
      return positionText(entry.position, expected);
  }
}

/** What a page has found that has checked all entries of a list, none of which is broken. */
export function unbrokenText({ entries, isFiltered }: Pick<CheckedList, 'entries' | 'isFiltered'>): string {
  const [newest, oldest] = [entries.at(0), entries.at(-1)];
  if (isFiltered) {
    return entries.length === 1
      ? 'The entry shown has its own hash: checked by this page.'
      : `Each of the ${entries.length} entries shown has its own hash: checked by this page.`;
  }
  return newest === oldest
    ? `Entry ${newest?.position} has its own hash: checked by this page.`
    : `Unbroken from entry ${oldest?.position} to ${newest?.position}: checked by this page.`;
}

/** How much of a list is broken. */
export const brokenText = (broken: number, all: number): string =>
  `${all === 1 ? '1 entry' : `${all} entries`} checked by this page, ${broken} broken`;

const NAMED = 5;

/** Which entries are broken: the first ones by their positions. */
export function namesOfBroken(breaks: AuditBreaks): string {
  const positions = [...breaks.keys()].map(({ position }) => position);
  const named = positions.slice(0, NAMED).join(', ');
  const more = positions.length - NAMED;
  return `${positions.length === 1 ? 'entry' : 'entries'} ${named}${more > 0 ? ` and ${more} more` : ''}`;
}
