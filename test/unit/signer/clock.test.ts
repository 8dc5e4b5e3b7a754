import { createSignerClock } from '../../../src/signer/clock';
import { createSteadyTime } from '../../../src/signer/journal/steadyTime';

const TIME = Date.parse('2026-01-01T00:00:00Z');

function makeClock({ own = TIME, last = 0 } = {}) {
  const world = { own, last, elapsed: 0 };
  const steady = createSteadyTime(
    () => world.own,
    () => world.elapsed,
  );
  return { world, clock: createSignerClock({ lastTime: () => world.last }, steady) };
}

test('the signer decides by its own clock, which never goes back behind its journal', () => {
  const { world, clock } = makeClock();
  expect(clock.now()).toEqual(new Date(TIME));
  world.last = TIME + 5_000;
  expect(clock.now()).toEqual(new Date(TIME + 5_000));
  world.elapsed = 6_000;
  expect(clock.now()).toEqual(new Date(TIME + 6_000));
});

test('a clock that is set counts once it is in step with the database', () => {
  const { world, clock } = makeClock();
  world.own = TIME + 600_000;
  expect(() => clock.assertInStep(new Date(TIME))).toThrow('600 s behind');
  world.elapsed = 1_000;
  expect(clock.now()).toEqual(new Date(TIME + 1_000));
  clock.assertInStep(new Date(TIME + 590_000));
  world.elapsed = 2_000;
  expect(clock.now()).toEqual(new Date(TIME + 601_000));
});

test.each([
  ['ahead of', 61_000],
  ['behind', -61_000],
])('a database whose clock is more than 60 s %s it is an alarm', (way, apartMs) => {
  const { clock } = makeClock();
  for (const ms of [0, 60_000, -60_000]) expect(clock.assertInStep(new Date(TIME + ms))).toBeUndefined();
  expect(() => clock.assertInStep(new Date(TIME + apartMs))).toThrow(
    expect.objectContaining({
      name: 'TemporaryRefusal',
      reason: 'clock',
      message: expect.stringContaining(`the clock of the database is 61 s ${way} the signer's`),
    }),
  );
});
