/**
 * The pause, in ms, that a header Retry-After asks for: seconds, or the time until a date, which is 0 where that is over; at most
 * `mostMs`. Undefined where it asks for none that can be read. Source: RFC 9110, section 10.2.3.
 */
export function retryAfterMs(
  header: string | null | undefined,
  { mostMs, nowMs = Date.now() }: { readonly mostMs: number; readonly nowMs?: number },
): number | undefined {
  const text = header?.trim() ?? '';
  const isDate = /^[A-Z][a-z]{2,8},? /.test(text);
  const ms = /^\d{1,15}$/.test(text) ? Number(text) * 1_000 : isDate ? Date.parse(text) - nowMs : Number.NaN;
  if (Number.isNaN(ms)) return undefined;
  return Math.min(Math.max(ms, 0), mostMs);
}
