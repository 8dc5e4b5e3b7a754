import type { Db, Tx } from './database';
import { queryRows, requireRow } from './rows';

/** A bucket that fills with `perSecond` tokens up to `burst`. */
export interface BucketSize {
  readonly perSecond: number;
  readonly burst: number;
}

/**
 * Takes up to `wanted` whole tokens out of a bucket that all processes share; a new bucket is full. Returns how many
 * were taken and how many are left (a fraction counts towards the next).
 */
export async function leaseTokens(
  db: Db | Tx,
  bucket: string,
  size: BucketSize,
  wanted: number,
): Promise<{ taken: number; left: number }> {
  const [row] = await queryRows<{ taken: number; left: number }>(
    db,
    `INSERT INTO rate_limit_buckets AS b (bucket, tokens, taken, updated_at)
     VALUES (:bucket, :burst::float8 - least(:wanted::int, :burst::int), least(:wanted::int, :burst::int),
       clock_timestamp())
     ON CONFLICT (bucket) DO UPDATE SET (tokens, taken, updated_at) = (
       SELECT filled - granted, granted, greatest(b.updated_at, excluded.updated_at)
       FROM (SELECT filled, least(:wanted::int, floor(filled)::int) AS granted
             FROM (SELECT least(:burst::float8, b.tokens + :perSecond::float8
                     * greatest(0, extract(epoch FROM excluded.updated_at - b.updated_at))) AS filled) AS refill
            ) AS lease)
     RETURNING taken, tokens AS "left"`,
    { bucket, burst: size.burst, perSecond: size.perSecond, wanted },
  );
  return requireRow(row);
}

/** Deletes buckets unused for an hour: they are full. */
export async function sweepBuckets(db: Db | Tx): Promise<void> {
  await db.raw(`DELETE FROM rate_limit_buckets WHERE updated_at < now() - interval '1 hour'`);
}
