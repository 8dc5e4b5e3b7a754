import { setTimeout as sleep } from 'node:timers/promises';

/** Calls of a series of single ones that warm up, and those that count. */
export const ALONE = { warmUp: 40, counted: 200 };
/** How many calls are begun together. */
export const TOGETHER = [16, 50] as const;
/** Between two calls of a series, so that what one leaves behind is not in the figure of the next. */
const PAUSE_MS = 5;
const REST_MS = 300;
const ROUNDS = 6;

/** What each side took. Sides are measured in turn: the service and its floor, or many records and few. */
type Taken<S extends string> = Readonly<Record<S, readonly number[]>>;

type Call = (index: number) => Promise<unknown>;

/** Milliseconds that the work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function eachSide<S extends string, T>(
  work: Readonly<Record<S, T>>,
  measure: (one: T) => Promise<readonly number[]>,
  taken: Record<S, number[]>,
  isCounted: boolean,
): Promise<void> {
  for (const side of Object.keys(work) as S[]) {
    const figures = await measure(work[side]);
    if (isCounted) taken[side].push(...figures);
  }
}

function nothingTaken<S extends string>(work: Readonly<Record<S, unknown>>): Record<S, number[]> {
  return Object.fromEntries(Object.keys(work).map((side) => [side, []])) as unknown as Record<S, number[]>;
}

/** Runs the sides in turn, A B A B, each call alone, and keeps the times after the warm-up, in milliseconds. */
export async function inTurn<S extends string>(
  work: Readonly<Record<S, (round: number) => Promise<unknown>>>,
  { warmUp, counted } = ALONE,
): Promise<Taken<S>> {
  const taken = nothingTaken(work);
  for (let round = 0; round < warmUp + counted; round += 1) {
    const one = async (call: Call) => {
      const ms = await timed(() => call(round));
      await sleep(PAUSE_MS);
      return [ms];
    };
    await eachSide(work, one, taken, round >= warmUp);
  }
  return taken;
}

/** Prepares calls that are begun together. */
type Prepare = (count: number) => Promise<readonly Call[]>;

/** The calls of each round begun together; the first round warms up. */
async function rounds<S extends string>(
  count: number,
  work: Readonly<Record<S, Prepare>>,
  measure: (calls: readonly Call[]) => Promise<readonly number[]>,
): Promise<Taken<S>> {
  const taken = nothingTaken(work);
  for (let round = 0; round <= ROUNDS; round += 1) {
    const one = async (prepare: Prepare) => {
      const calls = await prepare(count);
      await sleep(REST_MS);
      const figures = await measure(calls);
      await sleep(REST_MS);
      return figures;
    };
    await eachSide(work, one, taken, round > 0);
  }
  return taken;
}

/** Begins calls together, several times over. Returns the time of each call, in milliseconds. */
export function timesTogether<S extends string>(
  count: number,
  work: Readonly<Record<S, Prepare>>,
): Promise<Taken<S>> {
  return rounds(count, work, (calls) => Promise.all(calls.map((call, index) => timed(() => call(index)))));
}

/** Begins calls together, several times over. Returns how many were done per second in each round. */
export function ratesTogether<S extends string>(
  count: number,
  work: Readonly<Record<S, Prepare>>,
): Promise<Taken<S>> {
  return rounds(count, work, async (calls) => {
    const ms = await timed(() => Promise.all(calls.map((call, index) => call(index))));
    return [(calls.length * 1_000) / ms];
  });
}

const SLICE_MS = 1_000;
const SLICES = 8;

/** Calls one after the other on so many lanes, for slices of a second. Returns how many were done per second. */
export async function steadyRates<S extends string>(
  lanes: number,
  work: Readonly<Record<S, (lane: number) => Promise<unknown>>>,
): Promise<Taken<S>> {
  const taken = nothingTaken(work);
  for (let slice = -2; slice < SLICES; slice += 1) {
    const one = async (call: (lane: number) => Promise<unknown>) => {
      let done = 0;
      const startedAt = performance.now();
      const lane = async (index: number) => {
        while (performance.now() - startedAt < SLICE_MS) {
          await call(index);
          done += 1;
        }
      };
      await Promise.all(Array.from({ length: lanes }, (_, index) => lane(index)));
      return [(done * 1_000) / (performance.now() - startedAt)];
    };
    await eachSide(work, one, taken, slice >= 0);
  }
  return taken;
}

/** So many things, each made from its index. */
export function many<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
