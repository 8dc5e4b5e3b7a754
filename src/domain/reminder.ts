/** When people are reminded of an approval that lacks signatures: once this share of its time is over, in percent. */
const PERCENT = { half: 50, nineTenths: 90 } as const;

/** The reminders of an approval, by the share of its time that is over. */
export type Reminder = keyof typeof PERCENT;

const REMINDERS = ['half', 'nineTenths'] as const satisfies readonly Reminder[];

/** An approval that is open for a shorter time asks once, and reminds nobody. */
const SHORTEST_MS = 30_000;

/** The next reminder of an approval after a time (ms since 1970), and when it is due; undefined after the last one. */
export function nextReminder(
  { createdAt, expiresAt }: { readonly createdAt: string; readonly expiresAt: string },
  afterMs: number,
): { readonly reminder: Reminder; readonly atMs: number } | undefined {
  const from = Date.parse(createdAt);
  const lifetimeMs = Date.parse(expiresAt) - from;
  // Whole seconds are signed, so that the time is up to one shorter than the setting.
  if (lifetimeMs < SHORTEST_MS - 1_000) return undefined;
  return REMINDERS.map((reminder) => ({
    reminder,
    atMs: from + Math.ceil((lifetimeMs * PERCENT[reminder]) / 100),
  })).find(({ atMs }) => atMs > afterMs);
}
