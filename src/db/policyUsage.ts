import type { Usage, UsageWindow } from '../domain/policyEngine';
import type { Db, Row, Tx } from './database';

/**
 * What stands in each window now, in the order of the windows, by the database's clock: inside a transaction, as of
 * its beginning. What is reserved counts however long ago it was; what was released never does.
 */
export async function readUsage(db: Db | Tx, windows: readonly UsageWindow[]): Promise<Usage[]> {
  if (windows.length === 0) return [];
  const { rows } = await db.raw<{ rows: Row[] }>(
    `SELECT used.*, clock.at
    FROM (SELECT date_trunc('milliseconds', now()) AS at) AS clock
    CROSS JOIN jsonb_to_recordset(?::jsonb) AS w (place integer, policy_id text, hours integer,
      network_id bigint, token_address text, initiator_id text, account_id text, destination text)
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(u.amount), 0)::text AS amount, count(*) AS executions, min(u.block_at) AS oldest_block_at
      FROM policy_usage u WHERE u.policy_id = w.policy_id AND u.status <> 'released'
        AND coalesce(u.block_at, 'infinity') >= clock.at - make_interval(hours => w.hours)
        AND (w.network_id IS NULL OR u.network_id = w.network_id)
        AND (w.token_address IS NULL OR lower(u.token_address) = lower(w.token_address))
        AND (w.initiator_id IS NULL OR u.initiator_id = w.initiator_id)
        AND (w.account_id IS NULL OR u.account_id = w.account_id)
        AND (w.destination IS NULL OR lower(u.destination) = lower(w.destination))
    ) AS used
    ORDER BY w.place`,
    [
      JSON.stringify(
        windows.map((window, place) => ({
          place,
          policy_id: window.policyId,
          hours: window.hours,
          network_id: window.asset?.networkId,
          token_address: window.asset?.tokenAddress,
          initiator_id: window.initiatorId,
          account_id: window.accountId,
          destination: window.destination,
        })),
      ),
    ],
  );
  return rows.map((row) => ({
    amount: BigInt(row.amount),
    executions: Number(row.executions),
    oldestBlockAt: row.oldest_block_at,
    at: row.at,
  }));
}
