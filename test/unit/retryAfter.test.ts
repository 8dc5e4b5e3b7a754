import { retryAfterMs } from '../../src/retryAfter';

const now = Date.parse('2026-01-01T00:00:00Z');
const HOUR = 3_600_000;

test.each([
  ['120', 120_000],
  [' 5 ', 5_000],
  ['0', 0],
  ['86401', 24 * HOUR],
  ['999999999999999', 24 * HOUR],
  ['Thu, 01 Jan 2026 01:00:00 GMT', HOUR],
  ['Thursday, 01-Jan-26 01:00:00 GMT', HOUR],
  ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
  ['Fri, 01 Jan 2027 00:00:00 GMT', 24 * HOUR],
])('reads %j', (header, ms) => {
  expect(retryAfterMs(header, { mostMs: 24 * HOUR, nowMs: now })).toBe(ms);
});

test.each([undefined, '', '-1', '1.5', '1e3', 'soon', 'Thu, nonsense', '120, 5', `${'9'.repeat(400)}`])(
  'takes %j for none',
  (header) => {
    expect(retryAfterMs(header, { mostMs: 24 * HOUR, nowMs: now })).toBeUndefined();
  },
);
