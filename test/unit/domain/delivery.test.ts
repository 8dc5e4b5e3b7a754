import fc from 'fast-check';
import { type DeliveryState, deliveryText, pauseMs, SCHEDULE_MS } from '../../../src/domain/delivery';

const HOUR = 3_600_000;

test('the schedule is over 75 hours, and each pause is longer than the one before', () => {
  const all = SCHEDULE_MS.reduce((sum, ms) => sum + ms, 0);
  expect(all).toBeGreaterThan(74 * HOUR);
  expect(all).toBeLessThan(76 * HOUR);
  expect([...SCHEDULE_MS].sort((one, two) => one - two)).toEqual(SCHEDULE_MS);
});

test('a pause is at most a fifth from its place, never shorter than the receiver asks, and there is none after the last', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: SCHEDULE_MS.length }),
      fc.option(fc.nat(24 * HOUR), { nil: undefined }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempts, asked, random) => {
        const planned = SCHEDULE_MS[attempts - 1] ?? 0;
        const pause = pauseMs(attempts, asked, random) ?? 0;
        expect(pause).toBeGreaterThanOrEqual(Math.max(asked ?? 0, Math.floor(planned * 0.8)));
        expect(pause).toBeLessThanOrEqual(Math.max(asked ?? 0, Math.ceil(planned * 1.2)));
      },
    ),
  );
  expect(pauseMs(SCHEDULE_MS.length + 1, 1_000, 0.5)).toBeUndefined();
});

const state: DeliveryState = {
  ...{
    status: 'upToDate',
    kind: 'webhook',
    position: '7',
    hash: '',
    attempts: 0,
    lastFailure: null,
    retryInMs: null,
  },
  ...{ nextAttemptAt: null, failingSince: null, reason: null },
};

test('every state says what it waits for', () => {
  expect(deliveryText(state)).toBe('It has every event, and waits for the next one.');
  const failing = {
    ...state,
    status: 'failing',
    attempts: 1,
    lastFailure: 'the receiver answered 500',
    nextAttemptAt: 'T',
  } as const;
  expect(deliveryText(failing)).toMatch(
    /was not taken in 1 attempt \(the receiver answered 500\)\. It is tried again at T/,
  );
  for (const reason of ['request', 'failing', 'gone'] as const) {
    expect(deliveryText({ ...state, status: 'disabled', reason })).toMatch(/An admin enables it again/);
  }
  for (const reason of ['operator', 'restored'] as const) {
    expect(deliveryText({ ...state, status: 'paused', reason })).toMatch(/`resume`/);
  }
});
