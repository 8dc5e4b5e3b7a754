import { counted } from './counted.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A time of the service, in the time zone of the browser: `23 Nov 2026, 14:05`. */
export function dateTime(date: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(date));
}

/** A time in ms since 1970, as its day in the time zone of the browser: `23 Nov`. */
export function day(ms: number): string {
  return new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' }).format(ms);
}

/** A month, `2026-11`, in words: `November 2026`; what is none, as it is. */
export function monthName(month: string): string {
  const time = Date.parse(`${month}-01T00:00:00Z`);
  if (Number.isNaN(time)) return month;
  return new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(time);
}

/** The same with its time zone, where it is read on its own: `23 Nov 2026, 14:05 CET`. */
export function dateTimeZone(date: string): string {
  const zone = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' }).formatToParts(new Date(date));
  return `${dateTime(date)} ${zone.find(({ type }) => type === 'timeZoneName')?.value ?? ''}`.trim();
}

/** The time zone of the browser, in which all times are: `Europe/Berlin`. */
export const timeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** A time in ms since 1970, as the time of day in the time zone of the browser: `14:05:09`. */
export function timeOfDay(ms: number): string {
  return new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' }).format(ms);
}

/** How long that is, in its largest two units; below two minutes in seconds. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (ms < 2 * MINUTE_MS) return counted(seconds, 'second');
  const [days, hours, minutes] = [
    Math.floor(ms / DAY_MS),
    Math.floor((ms % DAY_MS) / HOUR_MS),
    Math.floor((ms % HOUR_MS) / MINUTE_MS),
  ];
  const parts = [
    days > 0 ? counted(days, 'day') : '',
    hours > 0 ? counted(hours, 'hour') : '',
    minutes > 0 && days === 0 ? counted(minutes, 'minute') : '',
  ];
  return parts.filter((part) => part !== '').join(' ');
}
