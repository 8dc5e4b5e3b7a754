import { TurnNotCome, Turnstile } from '../../../src/temporal/turnstile';

const LATER = () => Date.now() + 60_000;

/** A call that ends when it is told to. */
function held() {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { end: () => end(), call: () => ended };
}

/** Lets everything that can run now run. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('lets as many calls run as it is wide, and the next in the order they came', async () => {
  const turnstile = new Turnstile(2);
  const begun: number[] = [];
  const calls = [0, 1, 2, 3, 4].map(() => held());
  const passed = calls.map(({ call }, index) =>
    turnstile.pass('a', LATER(), () => {
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

test('keeps one key from waiting for another', async () => {
  const turnstile = new Turnstile(1);
  const one = held();
  const first = turnstile.pass('a', LATER(), one.call);
  expect(await turnstile.pass('b', LATER(), async () => 'through')).toBe('through');
  one.end();
  await first;
});

test('gives the place of a call that failed to the next', async () => {
  const turnstile = new Turnstile(1);
  const broken = turnstile.pass('a', LATER(), async () => {
    throw new Error('broken');
  });
  const next = turnstile.pass('a', LATER(), async () => 'through');
  await expect(broken).rejects.toThrow('broken');
  expect(await next).toBe('through');
  expect(await turnstile.pass('a', LATER(), async () => 'again')).toBe('again');
});

test('a call whose deadline passes while it waits is never made, and holds up nobody', async () => {
  const turnstile = new Turnstile(1);
  const one = held();
  const first = turnstile.pass('a', LATER(), one.call);
  let made = false;
  const late = turnstile.pass('a', Date.now(), async () => {
    made = true;
  });
  const next = turnstile.pass('a', LATER(), async () => 'through');
  await expect(late).rejects.toThrow(TurnNotCome);
  one.end();
  await first;
  expect(await next).toBe('through');
  expect(made).toBe(false);
});
