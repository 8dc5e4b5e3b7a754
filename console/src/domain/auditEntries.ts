/** Entries of the audit log, newest first, and the cursor of those before them, if there are any. */
export interface AuditEntries<Entry> {
  readonly entries: readonly Entry[];
  readonly cursor: string | undefined;
}

/**
 * The newest entries, followed by those that were read before: an entry never changes. Where all are new, others may be
 * missing in between, and only the newest stay.
 */
export function withNewest<Entry extends { readonly id: string }>(
  newest: AuditEntries<Entry>,
  before: AuditEntries<Entry> | undefined,
): AuditEntries<Entry> {
  const known = new Set(before?.entries.map(({ id }) => id));
  const added = newest.entries.filter(({ id }) => !known.has(id));
  if (!before || added.length === newest.entries.length) return newest;
  return { entries: [...added, ...before.entries], cursor: before.cursor };
}

/** Entries, followed by the page that was read at their cursor; unchanged once they have another one. */
export function withOlder<Entry>(
  now: AuditEntries<Entry>,
  older: AuditEntries<Entry>,
  readAt: string,
): AuditEntries<Entry> {
  if (now.cursor !== readAt) return now;
  return { entries: [...now.entries, ...older.entries], cursor: older.cursor };
}
