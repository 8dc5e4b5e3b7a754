import { KeyedLimiter, LimiterTimeout } from '../../../src/temporal/keyedLimiter';

const LATER = () => performance.now() + 60_000;

/** A call that ends when asked to. */
function held() {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { end: () => end(), call: () => ended };
}

/** Lets everything that can run now run. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('runs as many calls as its limit allows, and the next in the order they came', async () => {
  const limiter = new KeyedLimiter(2);
  const begun: number[] = [];
  const calls = [0, 1, 2, 3, 4].map(() => held());
  const passed = calls.map(({ call }, index) =>
    limiter.run('a', LATER(), () => {
      begun.push(index);
      return call();
    }),
  );
  await settle();
  expect(begun).toEqual([0, 1]);
  calls[1]?.end();
  await settle();
  expect(begun).toEqual([0, 1, 2]);
  for (const { end } of calls) end();
  await Promise.all(passed);
  expect(begun).toEqual([0, 1, 2, 3, 4]);
});

test('does not make one key wait for another', async () => {
  const limiter = new KeyedLimiter(1);
  const one = held();
  const first = limiter.run('a', LATER(), one.call);
  expect(await limiter.run('b', LATER(), async () => 'done')).toBe('done');
  one.end();
  await first;
});

test('gives the slot of a call that failed to the next', async () => {
  const limiter = new KeyedLimiter(1);
  const broken = limiter.run('a', LATER(), async () => {
    throw new Error('broken');
  });
  const next = limiter.run('a', LATER(), async () => 'done');
  await expect(broken).rejects.toThrow('broken');
  expect(await next).toBe('done');
  expect(await limiter.run('a', LATER(), async () => 'again')).toBe('again');
});

test('never makes a call whose deadline passes while it waits, nor holds up another for it', async () => {
  const limiter = new KeyedLimiter(1);
  const one = held();
  const first = limiter.run('a', LATER(), one.call);
  let made = false;
  const late = limiter.run('a', performance.now(), async () => {
    made = true;
  });
  const next = limiter.run('a', LATER(), async () => 'done');
  await expect(late).rejects.toThrow(LimiterTimeout);
  one.end();
  await first;
  expect(await next).toBe('done');
  expect(made).toBe(false);
});
