import { createSignerClock } from '../../../activities/signer/clock';

const TIME = Date.parse('2026-01-01T00:00:00Z');

test('the signer decides by its own clock, which never goes back behind its journal', () => {
  let own = TIME;
  let last = 0;
  const clock = createSignerClock({ lastTime: () => last }, () => own);
  expect(clock.now()).toEqual(new Date(TIME));
  last = TIME + 5_000;
  expect(clock.now()).toEqual(new Date(TIME + 5_000));
  own = TIME - 3_600_000;
  expect(clock.now()).toEqual(new Date(TIME + 5_000));
  own = TIME + 6_000;
  expect(clock.now()).toEqual(new Date(TIME + 6_000));
});

test.each([
  ['ahead of', 61_000],
  ['behind', -61_000],
])('a database whose clock is more than 60 s %s it is an alarm', (way, apartMs) => {
  const clock = createSignerClock({ lastTime: () => 0 }, () => TIME);
  for (const ms of [0, 60_000, -60_000]) expect(clock.assertInStep(new Date(TIME + ms))).toBeUndefined();
  expect(() => clock.assertInStep(new Date(TIME + apartMs))).toThrow(
    expect.objectContaining({
      name: 'SignerHold',
      reason: 'clock',
      message: expect.stringContaining(`the clock of the database is 61 s ${way} the signer's`),
    }),
  );
});
