import { ask, type ChainClient } from '../../chain/clients';
import { type Db, databaseNow } from '../../db/database';
import { MAX_CLOCKS_APART_MS } from '../../domain/clock';
import { duration } from '../text';
import { type Finding, fail, ok, warn } from './finding';

/** Smaller differences are within the latency of the query. */
const ALLOWED_MS = 3_000;
/** Blocks may be stamped a little ahead of their time. */
const ALLOWED_BLOCK_MS = 15_000;

/** The difference between a clock and the database's, whose time counts. */
export function clockFinding(aheadMs: number): Finding {
  const part = 'clock';
  if (Math.abs(aheadMs) <= ALLOWED_MS) return ok(part, "this machine's agrees with the database's");
  const way = aheadMs > 0 ? 'ahead of' : 'behind';
  return warn(
    part,
    `this machine is ${duration(Math.abs(aheadMs))} ${way} the database`,
    "let NTP set every machine's clock, those of the database and of the signer above all: their time counts",
  );
}

/** The same on the host of the signer, which signs nothing while they are too far apart. */
export function signerClockFinding(aheadMs: number): Finding {
  const finding = clockFinding(aheadMs);
  if (Math.abs(aheadMs) <= MAX_CLOCKS_APART_MS) return finding;
  return fail(finding.part, finding.found, 'the signer signs nothing until they agree: see the runbook');
}

/** The clock of this machine. */
export async function checkClock(db: Db, findingOf = clockFinding): Promise<Finding[]> {
  const askedMs = Date.now();
  const databaseMs = (await databaseNow(db)).getTime();
  // The database's time is from some moment between request and response.
  const nearestMs = Math.min(Math.max(databaseMs, askedMs), Date.now());
  return [findingOf(nearestMs - databaseMs)];
}

/** The clock of a chain: budgets count from the times of its blocks on. No finding when it is not ahead. */
export async function checkBlockTime(chain: ChainClient, db: Db): Promise<Finding[]> {
  const { timestamp } = await ask(chain, (rpc) => rpc.getBlock({ blockTag: 'latest' }));
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
