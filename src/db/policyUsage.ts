import type { Usage, UsageWindow } from '../domain/policyEngine';
import type { Db, Row, Tx } from './database';

/**
 * What stands in each window now, in the order of the windows, by the database's clock: inside a transaction, as of
 * its beginning. What is reserved counts however long ago it was; what was released never does.
 */
export async function readUsage(db: Db | Tx, windows: readonly UsageWindow[]): Promise<Usage[]> {
  if (windows.length === 0) return [];
  const now = `date_trunc('milliseconds', now())`;
  // Each window says plainly what it looks at, so that the planner knows how little of the past that is.
  const selects = windows.map((window, place) => {
    const conditions: [string, string | number | null | undefined][] = [
      ['u.network_id = ?', window.asset?.networkId],
      ['lower(u.token_address) = lower(?)', window.asset?.tokenAddress],
      ['u.initiator_id = ?', window.initiatorId],
      ['u.account_id = ?', window.accountId],
      ['lower(u.destination) = lower(?)', window.destination],
    ];
    const wanted = conditions.filter(([, value]) => value !== null && value !== undefined);
    return {
      text: `SELECT ${place} AS place, ${now} AS at, coalesce(sum(u.amount), 0)::text AS amount,
          count(*) AS executions, min(u.block_at) AS oldest_block_at
        FROM policy_usage u WHERE u.policy_id = ?
          AND u.counted_from >= ${now} - make_interval(hours => ?::integer)
          ${wanted.map(([condition]) => `AND ${condition}`).join(' ')}`,
      values: [window.policyId, window.hours, ...wanted.map(([, value]) => value ?? null)],
    };
  });
  const { rows } = await db.raw<{ rows: Row[] }>(
    `${selects.map(({ text }) => text).join('\nUNION ALL\n')}\nORDER BY place`,
    selects.flatMap(({ values }) => values),
  );
  return rows.map((row) => ({
    amount: BigInt(row.amount),
    executions: Number(row.executions),
    oldestBlockAt: row.oldest_block_at,
    at: row.at,
  }));
}
