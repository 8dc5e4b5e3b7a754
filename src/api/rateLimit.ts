import type { Db } from '../db/database';
import { type BucketSize, leaseTokens } from '../db/rateLimits';
import { setNewest } from '../setNewest';

/** The decision of a limiter on one request. */
interface RateDecision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the bucket is full again. */
  readonly resetSeconds: number;
  /** Seconds until the next request is allowed; 0 when this one is. */
  readonly retryAfterSeconds: number;
}

interface Held {
  /** Tokens leased to this process and not used. */
  tokens: number;
  /** Tokens left in the shared bucket at the last read. */
  left: number;
  askedAtMs: number;
  asking: Promise<void> | undefined;
}

const MAX_BUCKETS = 10_000;
/** A tenth of the burst at a time: few writes, and processes together stay within one burst. */
const BLOCKS_PER_BURST = 10;

/** A token bucket per key that all processes share; each process leases tokens in blocks. */
export function createRateLimiter(
  lease: (bucket: string, size: BucketSize, wanted: number) => Promise<{ taken: number; left: number }>,
  size: BucketSize,
  nowMs: () => number = () => performance.now(),
): (bucket: string) => Promise<RateDecision> {
  const block = Math.max(1, Math.floor(size.burst / BLOCKS_PER_BURST));
  const buckets = new Map<string, Held>();

  function filled(held: Held): number {
    return Math.min(size.burst, held.left + ((nowMs() - held.askedAtMs) / 1_000) * size.perSecond);
  }

  async function ask(bucket: string, held: Held): Promise<void> {
    const { taken, left } = await lease(bucket, size, block);
    held.tokens += taken;
    held.left = left;
    held.askedAtMs = nowMs();
  }

  return async (bucket) => {
    let held = buckets.get(bucket);
    if (!held) {
      held = { tokens: 0, left: size.burst, askedAtMs: nowMs(), asking: undefined };
      setNewest(buckets, bucket, held, MAX_BUCKETS);
    }
    while (held.tokens < 1 && filled(held) >= 1) {
      const current: Held = held;
      current.asking ??= ask(bucket, current).finally(() => {
        current.asking = undefined;
      });
      await current.asking;
    }
    const allowed = held.tokens >= 1;
    if (allowed) held.tokens -= 1;
    const remaining = Math.min(size.burst, Math.floor(held.tokens + filled(held)));
    return {
      allowed,
      limit: size.burst,
      remaining: allowed ? remaining : 0,
      resetSeconds: Math.ceil((size.burst - remaining) / size.perSecond),
      retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((1 - filled(held)) / size.perSecond)),
    };
  };
}

/** The limiter of credentials: its buckets are rows in the database. */
export function createCredentialRateLimiter(db: Db, size: BucketSize) {
  return createRateLimiter((bucket, bucketSize, wanted) => leaseTokens(db, bucket, bucketSize, wanted), size);
}

/** Counts failed authentications per caller in this process. */
interface FailureLimiter {
  /** Counts one failure. False when there were too many. */
  count(caller: string): boolean;
  /** Takes back a failure that was counted before it was known to be none. */
  takeBack(caller: string): void;
}

/** A token bucket per caller, in memory; drops the oldest callers above a maximum. */
export function createFailureLimiter(
  size: BucketSize,
  nowMs: () => number = () => performance.now(),
): FailureLimiter {
  const callers = new Map<string, { tokens: number; atMs: number }>();
  return {
    count(caller) {
      const known = callers.get(caller) ?? { tokens: size.burst, atMs: nowMs() };
      const now = nowMs();
      const tokens = Math.min(size.burst, known.tokens + ((now - known.atMs) / 1_000) * size.perSecond);
      setNewest(callers, caller, { tokens: tokens >= 1 ? tokens - 1 : tokens, atMs: now }, MAX_BUCKETS);
      return tokens >= 1;
    },
    takeBack(caller) {
      const known = callers.get(caller);
      if (known) known.tokens = Math.min(size.burst, known.tokens + 1);
    },
  };
}
