/** Longest pause that a receiver is granted, in ms. */
const MAX_PAUSE_MS = 24 * 3_600_000;

/**
 * The pause, in ms, that a header Retry-After asks for: seconds or a date, at most a day. Undefined where it asks for none that can
 * be read. Source: RFC 9110, section 10.2.3.
 */
export function retryAfterMs(header: string | undefined, nowMs = Date.now()): number | undefined {
  const text = header?.trim() ?? '';
  const isDate = /^[A-Z][a-z]{2,8},? /.test(text);
  const ms = /^\d{1,15}$/.test(text) ? Number(text) * 1_000 : isDate ? Date.parse(text) - nowMs : Number.NaN;
  if (Number.isNaN(ms)) return undefined;
  return Math.min(Math.max(ms, 0), MAX_PAUSE_MS);
}
