import fc from 'fast-check';
import { digestOf, MOST_MESSAGES, sendingOf, WINDOW_MS } from '../../../src/notices/digest';
import { noticeOf } from '../../../src/notices/notice';

/** A message that a channel got, and which notices were in it. */
interface Message {
  readonly at: number;
  readonly notices: readonly number[];
}

/** Sends notices that arrive at these times, as a channel does. */
function deliver(arrivals: readonly number[]): Message[] {
  const sent: Message[] = [];
  let pending: number[] = [];
  const at = (n: number) => arrivals[n] ?? 0;
  for (let now = at(0), next = 0; next < arrivals.length || pending.length > 0; ) {
    while (next < arrivals.length && at(next) <= now) pending.push(next++);
    const sending = sendingOf(
      pending.length,
      sent.map((message) => message.at),
      now,
    );
    if (typeof sending === 'object') {
      expect(sending.waitMs).toBeGreaterThan(0);
      now += sending.waitMs;
      continue;
    }
    const own = now;
    if (sending === 'digest') sent.push({ at: own, notices: pending });
    else sent.push(...pending.map((one) => ({ at: own, notices: [one] })));
    pending = [];
    if (next < arrivals.length) now = Math.max(now, at(next));
  }
  return sent;
}

const arrivals = fc
  .array(fc.integer({ min: 0, max: 4 * WINDOW_MS }), { minLength: 1, maxLength: 80 })
  .map((times) => times.sort((one, two) => one - two));

describe('what comes to a channel', () => {
  it('comes whole and in order, with at most 10 messages within 10 minutes', () => {
    fc.assert(
      fc.property(arrivals, (times) => {
        const sent = deliver(times);
        expect(sent.flatMap(({ notices }) => notices)).toEqual(times.map((_, n) => n));
        for (const { at } of sent) {
          const within = sent.filter((other) => other.at > at - WINDOW_MS && other.at <= at);
          expect(within.length).toBeLessThanOrEqual(MOST_MESSAGES);
        }
      }),
    );
  });

  it('comes at once and one by one, where at most 10 come within 10 minutes', () => {
    fc.assert(
      fc.property(arrivals, (times) => {
        const calm = times.filter(
          (at, n) => n < MOST_MESSAGES || at - (times[n - MOST_MESSAGES] ?? 0) > WINDOW_MS,
        );
        fc.pre(calm.every((at, n) => n < MOST_MESSAGES || at - (calm[n - MOST_MESSAGES] ?? 0) > WINDOW_MS));
        expect(deliver(calm)).toEqual(calm.map((at, n) => ({ at, notices: [n] })));
      }),
    );
  });

  it('waits no longer than ten minutes', () => {
    fc.assert(
      fc.property(arrivals, (times) => {
        for (const { at, notices } of deliver(times)) {
          for (const one of notices) expect(at - (times[one] ?? 0)).toBeLessThanOrEqual(WINDOW_MS);
        }
      }),
    );
  });

  it('comes as one message where fifty come at once', () => {
    expect(deliver(Array<number>(50).fill(0))).toEqual([
      { at: 0, notices: Array.from({ length: 50 }, (_, n) => n) },
    ]);
  });
});

it('a digest has the first notices on a line each, and counts the others', () => {
  const many = Array.from({ length: 12 }, (_, n) => noticeOf('Executed', ['"Acme"', `Send ${n}`], null));
  expect(digestOf(many, 'Acme', 'https://wallet.example.com/')).toEqual({
    title: '12 notices',
    lines: ['"Acme"', ...Array.from({ length: 10 }, (_, n) => `${n + 1}. Executed: Send ${n}`), 'and 2 more'],
    link: 'https://wallet.example.com/',
  });
});
