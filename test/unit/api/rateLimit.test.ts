import { createFailureLimiter, createRateLimiter } from '../../../src/api/rateLimit';
import type { BucketSize } from '../../../src/db/rateLimits';

/** A bucket as the database keeps it, with a clock that the test moves. */
function sharedBucket() {
  const clock = { ms: 0 };
  let tokens: number | undefined;
  let atMs = 0;
  let asked = 0;
  const lease = async (_: string, size: BucketSize, wanted: number) => {
    asked += 1;
    const filled = Math.min(
      size.burst,
      (tokens ?? size.burst) + ((clock.ms - atMs) / 1_000) * size.perSecond,
    );
    const taken = Math.min(wanted, Math.floor(filled));
    tokens = filled - taken;
    atMs = clock.ms;
    return { taken, left: tokens };
  };
  return { clock, lease, nowMs: () => clock.ms, asked: () => asked };
}

async function allowed(limit: ReturnType<typeof createRateLimiter>, requests: number): Promise<number> {
  const decisions = await Promise.all(Array.from({ length: requests }, () => limit('key_1')));
  return decisions.filter((decision) => decision.allowed).length;
}

describe('the rate limit of a key', () => {
  const size = { perSecond: 100, burst: 300 };

  it('lets one burst through, and then what the bucket fills', async () => {
    const bucket = sharedBucket();
    const limit = createRateLimiter(bucket.lease, size, bucket.nowMs);
    expect(await allowed(limit, 500)).toBe(300);
    expect(await allowed(limit, 10)).toBe(0);
    bucket.clock.ms += 1_000;
    expect(await allowed(limit, 500)).toBe(100);
  });

  it('holds for several processes together', async () => {
    const bucket = sharedBucket();
    const one = createRateLimiter(bucket.lease, size, bucket.nowMs);
    const two = createRateLimiter(bucket.lease, size, bucket.nowMs);
    const both = await Promise.all([allowed(one, 400), allowed(two, 400)]);
    expect(both[0] + both[1]).toBe(300);
  });

  it('asks the database once per block, and not while the bucket is empty', async () => {
    const bucket = sharedBucket();
    const limit = createRateLimiter(bucket.lease, size, bucket.nowMs);
    await allowed(limit, 300);
    await allowed(limit, 1_000);
    expect(bucket.asked()).toBeLessThanOrEqual(11);
  });

  it('says when to come back', async () => {
    const bucket = sharedBucket();
    const limit = createRateLimiter(bucket.lease, { perSecond: 0.5, burst: 1 }, bucket.nowMs);
    expect(await limit('key_1')).toMatchObject({
      allowed: true,
      limit: 1,
      remaining: 0,
      retryAfterSeconds: 0,
    });
    expect(await limit('key_1')).toMatchObject({ allowed: false, retryAfterSeconds: 2, resetSeconds: 2 });
  });
});

describe('the limit on failed authentication', () => {
  it('counts each caller for itself and forgives with time', () => {
    let ms = 0;
    const failures = createFailureLimiter({ perSecond: 1, burst: 2 }, () => ms);
    expect([failures.count('a'), failures.count('a'), failures.count('a')]).toEqual([true, true, false]);
    expect(failures.count('b')).toBe(true);
    ms += 1_000;
    expect([failures.count('a'), failures.count('a')]).toEqual([true, false]);
  });

  it('takes back what was none', () => {
    const failures = createFailureLimiter({ perSecond: 1, burst: 1 }, () => 0);
    expect([failures.count('a'), failures.count('a')]).toEqual([true, false]);
    failures.takeBack('a');
    failures.takeBack('a');
    failures.takeBack('b');
    expect([failures.count('a'), failures.count('a')]).toEqual([true, false]);
  });
});
