import { type AuditBreak, verifyAuditEntries } from '@orgwallet/client';
import type { AuditEntries } from './auditEntries.ts';

type Entry = AuditBreak['entry'];

/** What is broken, by entry. */
export type AuditBreaks = ReadonlyMap<Entry, readonly AuditBreak[]>;

/** What is to be checked. */
export interface CheckedList extends AuditEntries<Entry> {
  readonly organizationId: string;
  /** Other entries may be missing between two of these. */
  readonly isFiltered: boolean;
}

/** What has been found about entries, and after which older one. */
export type Checked = WeakMap<
  Entry,
  { readonly before: Entry | undefined; readonly breaks: readonly AuditBreak[] }
>;

/** How many entries are checked at once. */
const PART = 10;

/** The log ends with its first entry: nothing is older than what was read last. */
function missingAtTheEnd({ entries, cursor, isFiltered }: CheckedList): readonly AuditBreak[] {
  const entry = entries.at(-1);
  if (isFiltered || cursor !== undefined || !entry || entry.position === '1') return [];
  return [{ entry, field: 'position', expected: '1' }];
}

/**
 * Verifies entries of the audit log, newest first, and pauses after each part of them: they may be thousands. What is in
 * `checked` already, after the same older entry, is not verified again. Returns what is broken.
 */
export function* auditCheck(list: CheckedList, checked: Checked): Generator<undefined, AuditBreaks> {
  const { organizationId, entries, isFiltered } = list;
  for (let from = 0; from < entries.length; from += PART) {
    const part = entries.slice(from, from + PART);
    const isKnown = part.every((entry, n) => {
      const known = checked.get(entry);
      return known !== undefined && known.before === entries[from + n + 1];
    });
    if (isKnown) continue;
    const breaks = verifyAuditEntries(organizationId, entries.slice(from, from + PART + 1), { isFiltered });
    for (const [n, entry] of part.entries()) {
      const own = breaks.filter((one) => one.entry === entry);
      checked.set(entry, { before: entries[from + n + 1], breaks: own });
    }
    yield;
  }
  const broken = new Map<Entry, readonly AuditBreak[]>();
  for (const entry of entries) {
    const { breaks = [] } = checked.get(entry) ?? {};
    if (breaks.length > 0) broken.set(entry, breaks);
  }
  for (const one of missingAtTheEnd(list)) broken.set(one.entry, [...(broken.get(one.entry) ?? []), one]);
  return broken;
}
