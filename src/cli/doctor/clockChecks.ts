import { ask, type ChainClient } from '../../chain/clients';
import { type Db, databaseNow } from '../../db/database';
import { MAX_CLOCKS_APART_MS } from '../../domain/clock';
import { duration } from '../text';
import { type Finding, fail, ok, warn } from './finding';

/** Smaller differences are within the latency of the query. */
const ALLOWED_MS = 3_000;
/** Blocks may be stamped a little ahead of their time. */
const ALLOWED_BLOCK_MS = 15_000;
/** The first answer comes over a new connection: it is asked again, unless that was quick, or this takes too long. */
const QUICK_MS = 1_000;
const MOST_MS = 4_000;

/** How this machine's clock compares with the database's, whose time counts; in milliseconds. */
export interface ClockReading {
  /** How far this machine's is ahead, at least: 0 where both may agree. */
  readonly aheadMs: number;
  /** How long the answer took: the database's time is from some moment of it. */
  readonly tookMs: number;
}

async function readOnce(db: Db): Promise<ClockReading> {
  const askedMs = Date.now();
  const askedAt = performance.now();
  const databaseMs = (await databaseNow(db)).getTime();
  const tookMs = performance.now() - askedAt;
  // The database's time is from some moment between request and response, and a slow answer is not a difference of clocks.
  const nearestMs = Math.min(Math.max(databaseMs, askedMs), askedMs + tookMs);
  return { aheadMs: Math.round(nearestMs - databaseMs), tookMs };
}

/** Reads the database's clock, by its quickest answer of some. */
export async function readClock(db: Db): Promise<ClockReading> {
  const startedAt = performance.now();
  let best = await readOnce(db);
  while (best.tookMs > QUICK_MS && performance.now() - startedAt < MOST_MS) {
    const next = await readOnce(db);
    if (next.tookMs >= best.tookMs) break;
    best = next;
  }
  return best;
}

/** The difference between a clock and the database's, whose time counts. */
export function clockFinding({ aheadMs, tookMs }: ClockReading): Finding {
  const part = 'clock';
  if (Math.abs(aheadMs) <= ALLOWED_MS) {
    const within = tookMs > ALLOWED_MS ? `, to within the ${duration(tookMs)} that its answer took` : '';
    return ok(part, `this machine's agrees with the database's${within}`);
  }
  const way = aheadMs > 0 ? 'ahead of' : 'behind';
  return warn(
    part,
    `this machine is ${duration(Math.abs(aheadMs))} ${way} the database`,
    "let NTP set every machine's clock, those of the database and of the signer above all: their time counts",
  );
}

/** The same on the host of the signer, which signs nothing while they are too far apart. */
export function signerClockFinding(reading: ClockReading): Finding {
  const finding = clockFinding(reading);
  if (Math.abs(reading.aheadMs) <= MAX_CLOCKS_APART_MS) return finding;
  return fail(finding.part, finding.found, 'the signer signs nothing until they agree: see the runbook');
}

/** The clock of a chain: budgets count from the times of its blocks on. No finding when it is not ahead. */
export async function checkBlockTime(chain: ChainClient, db: Db): Promise<Finding[]> {
  const { timestamp } = await ask(chain, (rpc) => rpc.getBlock({ blockTag: 'latest' }));
  // Asked later: what is slow can only make the block look older.
  const aheadMs = Number(timestamp) * 1_000 - (await databaseNow(db)).getTime();
  if (aheadMs <= ALLOWED_BLOCK_MS) return [];
  return [
    warn(
      `clock ${chain.network.id}`,
      `the newest block of ${chain.network.name} is ${duration(aheadMs)} from the future`,
      'executions there count in budgets for that much longer; check the network and the clock of the database',
    ),
  ];
}
