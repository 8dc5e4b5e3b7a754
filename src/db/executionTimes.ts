import type { Db } from './database';
import { queryRows, requireRow } from './rows';

/** How long the steps of an executed transaction took, in seconds. */
export interface ExecutionTimes {
  /** From the threshold, when its budget was reserved, until its first envelope was sent. */
  readonly broadcastSeconds: number;
  /** From then until its confirmations were recorded. */
  readonly confirmSeconds: number;
  readonly envelopes: number;
}

/** Reads the times of transactions that were executed, and sent from here. */
export async function readExecutionTimes(db: Db, ids: readonly string[]): Promise<ExecutionTimes[]> {
  const rows = await queryRows<{ broadcast: number; confirm: number; envelopes: number }>(
    db,
    `SELECT extract(epoch FROM min(e.sent_at) - min(u.reserved_at))::float8 AS broadcast,
        extract(epoch FROM min(c.decided_at) - min(e.sent_at))::float8 AS confirm, count(*)::integer AS envelopes
      FROM chain_attempts c
      JOIN chain_envelopes e ON e.attempt_id = c.id AND e.sent_at IS NOT NULL
      JOIN policy_usage u ON u.transaction_id = c.transaction_id AND u.status = 'committed'
      WHERE c.transaction_id = ANY(?) AND c.outcome = 'executed'
      GROUP BY c.id`,
    [[...ids]],
  );
  return rows.map(({ broadcast, confirm, envelopes }) => ({
    broadcastSeconds: broadcast,
    confirmSeconds: confirm,
    envelopes,
  }));
}

/** For how long the oldest execution of a transaction has been undecided, in seconds; 0 without one. */
export async function oldestExecutionSeconds(db: Db): Promise<number> {
  const [row] = await queryRows<{ seconds: number }>(
    db,
    `SELECT coalesce(extract(epoch FROM now() - min(reserved_at)), 0)::float8 AS seconds
      FROM policy_usage WHERE status = 'reserved'`,
  );
  return requireRow(row).seconds;
}
