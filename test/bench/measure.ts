import { setTimeout as sleep } from 'node:timers/promises';

/** Calls of a series of single ones that warm up, and those that count. */
export const WARM_UP = 40;
export const CALLS = 200;
/** How many calls are begun together where that is what is measured. */
export const AT_ONCE = 50;
/** Between two calls of a series, so that what one leaves behind is not in the figure of the next. */
const PAUSE_MS = 5;
const AT_ONCE_ROUNDS = 6;

/** What both sides of a comparison took. */
export interface Pair {
  readonly product: number[];
  readonly bare: number[];
}

/** Milliseconds that the work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Runs both in turn, A B A B, and keeps the times after the warm-up. */
export async function inTurn(
  rounds: { warmUp: number; counted: number },
  work: { product: (round: number) => Promise<unknown>; bare: (round: number) => Promise<unknown> },
): Promise<Pair> {
  const pair: Pair = { product: [], bare: [] };
  for (let round = 0; round < rounds.warmUp + rounds.counted; round += 1) {
    for (const side of ['product', 'bare'] as const) {
      const ms = await timed(() => work[side](round));
      if (round >= rounds.warmUp) pair[side].push(ms);
      await sleep(PAUSE_MS);
    }
  }
  return pair;
}

/** Each of `AT_ONCE` calls begun together, several times over; the times of all calls. */
export async function atOnce(
  product: (round: number) => Promise<((call: number) => Promise<unknown>)[]>,
  bare: (round: number) => Promise<((call: number) => Promise<unknown>)[]>,
): Promise<Pair> {
  const pair: Pair = { product: [], bare: [] };
  for (let round = 0; round <= AT_ONCE_ROUNDS; round += 1) {
    for (const [side, prepare] of [
      ['product', product],
      ['bare', bare],
    ] as const) {
      const calls = await prepare(round);
      await sleep(300);
      const times = await Promise.all(calls.map((call, index) => timed(() => call(index))));
      // The first round warms up.
      if (round > 0) pair[side].push(...times);
      await sleep(300);
    }
  }
  return pair;
}
