import { afterRunOrSlow, createBatcher, everyMs } from '../../../src/api/batcher';

const INTERVAL_MS = 40;

function setUp(run = async (keys: readonly string[]) => new Map(keys.map((key) => [key, `${key}!`]))) {
  const runs: { keys: readonly string[]; atMs: number }[] = [];
  const ask = createBatcher((keys) => {
    runs.push({ keys, atMs: performance.now() });
    return run(keys);
  }, everyMs(INTERVAL_MS));
  return { ask, runs };
}

describe('calls of a batcher', () => {
  it('share a run, each key once, and get the value of their key', async () => {
    const { ask, runs } = setUp();
    expect(await Promise.all(['a', 'b', 'a'].map(ask))).toEqual(['a!', 'b!', 'a!']);
    expect(runs.map(({ keys }) => keys)).toEqual([['a', 'b']]);
  });

  it('wait for the interval, with all that are asked meanwhile', async () => {
    const { ask, runs } = setUp();
    await ask('a');
    await Promise.all([ask('b'), ask('c')]);
    expect(runs.map(({ keys }) => keys)).toEqual([['a'], ['b', 'c']]);
    expect((runs[1]?.atMs ?? 0) - (runs[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(INTERVAL_MS - 2);
  });

  it('wait for a run that is slower than the interval', async () => {
    let end = () => {};
    const { ask, runs } = setUp(async () => {
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      return new Map();
    });
    const first = ask('a');
    await new Promise((resolve) => setTimeout(resolve, 2 * INTERVAL_MS));
    const second = ask('b');
    await new Promise((resolve) => setTimeout(resolve, 2 * INTERVAL_MS));
    expect(runs).toHaveLength(1);
    end();
    await first;
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(runs).toHaveLength(2);
    end();
    expect(await second).toBeUndefined();
  });

  it('fail with their run, and the next run is another try', async () => {
    let broken = true;
    const { ask } = setUp(async () => {
      if (broken) throw new Error('unavailable');
      return new Map([['a', 'found']]);
    });
    await expect(Promise.all([ask('a'), ask('b')])).rejects.toThrow('unavailable');
    broken = false;
    expect(await ask('a')).toBe('found');
  });

  it('wait for the last run unless it is slow', async () => {
    jest.useFakeTimers();
    try {
      const ends: (() => void)[] = [];
      const runs: (readonly string[])[] = [];
      const ask = createBatcher((keys) => {
        runs.push(keys);
        return new Promise<Map<string, string>>((resolve) => {
          ends.push(() => resolve(new Map(keys.map((key) => [key, `${key}!`]))));
        });
      }, afterRunOrSlow);
      const first = ask('a');
      await jest.advanceTimersByTimeAsync(0);
      const others = [ask('a'), ask('b')];
      await jest.advanceTimersByTimeAsync(10);
      expect(runs).toEqual([['a']]);
      ends[0]?.();
      expect(await first).toBe('a!');
      await jest.advanceTimersByTimeAsync(0);
      expect(runs).toHaveLength(2);
      const last = ask('c');
      await jest.advanceTimersByTimeAsync(49);
      expect(runs).toHaveLength(2);
      await jest.advanceTimersByTimeAsync(1);
      expect(runs).toHaveLength(3);
      for (const end of ends) end();
      expect(await Promise.all([...others, last])).toEqual(['a!', 'b!', 'c!']);
      expect(runs).toEqual([['a'], ['a', 'b'], ['c']]);
    } finally {
      jest.useRealTimers();
    }
  });
});
