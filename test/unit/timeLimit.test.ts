import { withTimeLimit } from '../../src/timeLimit';

const never = new Promise<never>(() => undefined);

describe('a time limit', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('gives what the work gives, and leaves no timer', async () => {
    expect(await withTimeLimit(Promise.resolve(1), 1_000, () => 2)).toBe(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('fails as the work fails, and leaves no timer', async () => {
    const work = Promise.reject(new Error('the work failed'));
    await expect(withTimeLimit(work, 1_000, () => 2)).rejects.toThrow('the work failed');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('gives what is given at the limit, not before', async () => {
    let given: number | undefined;
    const waiting = withTimeLimit(never, 1_000, () => 2).then((value) => {
      given = value;
    });
    await jest.advanceTimersByTimeAsync(999);
    expect(given).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    await waiting;
    expect(given).toBe(2);
  });

  it('fails with what is thrown at the limit', async () => {
    const waiting = withTimeLimit(never, 1_000, () => {
      throw new Error('too late');
    });
    const failed = expect(waiting).rejects.toThrow('too late');
    await jest.advanceTimersByTimeAsync(1_000);
    await failed;
  });
});
