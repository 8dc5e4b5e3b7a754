const MONTH = /^(\d{4})-(0[1-9]|1[0-2])$/;
/** So many months are offered at most. */
const MOST_MONTHS = 36;

/** The month of a time, in UTC: `2026-11`. */
export const monthOf = (ms: number): string => new Date(ms).toISOString().slice(0, 7);

/** The months from one time to another, in UTC, the last one first. */
export function monthsBetween(first: number, last: number): readonly string[] {
  const months: string[] = [];
  const begin = monthOf(Math.min(first, last));
  const day = new Date(last);
  for (let back = 0; back < MOST_MONTHS; back += 1) {
    const month = monthOf(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() - back, 1));
    if (month < begin) break;
    months.push(month);
  }
  return months;
}

/** The first instants of a month and of the next one, in UTC; undefined for an invalid month. The present month has no end yet. */
export function periodOfMonth(
  month: string,
  now: number,
): { readonly from: string; readonly to?: string } | undefined {
  const [, year, number] = MONTH.exec(month) ?? [];
  if (year === undefined) return undefined;
  const [from, to] = [0, 1].map((later) => Date.UTC(Number(year), Number(number) - 1 + later, 1));
  if (from === undefined || to === undefined || from > now) return undefined;
  const begin = new Date(from).toISOString();
  return to > now ? { from: begin } : { from: begin, to: new Date(to).toISOString() };
}
