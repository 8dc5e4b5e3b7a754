import fc from 'fast-check';
import { nextReminder } from '../../../src/domain/reminder';

const from = Date.parse('2025-06-01T12:00:00.000Z');
const openFor = (ms: number) => ({
  createdAt: new Date(from).toISOString(),
  expiresAt: new Date(from + ms).toISOString(),
});
const WEEK_MS = 7 * 86_400_000;

describe('a reminder', () => {
  it('is due when half, and when nine tenths of the time of an approval are over', () => {
    const week = openFor(WEEK_MS);
    const half = nextReminder(week, from);
    expect(half).toEqual({ reminder: 'half', atMs: Date.parse('2025-06-05T00:00:00.000Z') });
    const last = nextReminder(week, half?.atMs ?? 0);
    expect(last).toEqual({ reminder: 'nineTenths', atMs: from + WEEK_MS * 0.9 });
    expect(nextReminder(week, last?.atMs ?? 0)).toBeUndefined();
  });

  it('is not given where there is less than half a minute', () => {
    expect(nextReminder(openFor(28_999), from)).toBeUndefined();
    expect(nextReminder(openFor(29_001), from)?.reminder).toBe('half');
  });

  it('is given at most twice, after its creation and before its expiry, whenever it is looked for', () => {
    const times = fc.array(fc.integer({ min: -1_000, max: WEEK_MS }), { maxLength: 20 });
    fc.assert(
      fc.property(fc.integer({ min: 29_000, max: WEEK_MS }), times, (ms, looks) => {
        const found = new Map(
          looks.flatMap((after) => {
            const next = nextReminder(openFor(ms), from + after);
            if (next) expect(next.atMs).toBeGreaterThan(from + after);
            return next ? [[next.reminder, next.atMs] as const] : [];
          }),
        );
        for (const atMs of found.values()) {
          expect(atMs).toBeGreaterThan(from);
          expect(atMs).toBeLessThan(from + ms);
        }
        expect(found.size).toBeLessThanOrEqual(2);
      }),
    );
  });
});
