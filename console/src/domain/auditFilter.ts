/** What is asked of the service about the audit log; both times are instants, the second one not included. */
export interface AuditFilter {
  readonly resourceType?: string;
  readonly resourceId?: string;
  readonly action?: string;
  readonly from?: string;
  readonly to?: string;
}

/** The beginning of a day, or of a later one, where the reader is; undefined for what is not a day. */
export function startOfDay(day: string | undefined, later: number): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day ?? '') ?? [];
  if (year === undefined) return undefined;
  return new Date(Number(year), Number(month) - 1, Number(date) + later).toISOString();
}

/** What to ask for what somebody looks for: their days become instants, the last day included. */
export function auditFilter(search: AuditFilter): AuditFilter {
  const { from, to, ...exact } = search;
  const [begin, end] = [startOfDay(from, 0), startOfDay(to, 1)];
  return { ...exact, ...(begin ? { from: begin } : {}), ...(end ? { to: end } : {}) };
}
