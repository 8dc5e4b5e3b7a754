import type { Usage, UsageWindow } from '../domain/policyEngine';
import type { Db, Tx } from './database';
import { queryRows } from './rows';
import type { AuthorizationRow, PolicyUsageRow } from './tables';

/** What the statement of `readUsage` reads of each window. */
interface UsageColumns {
  readonly amount: string;
  readonly executions: bigint;
  readonly oldest_block_at: Date | null;
  readonly at: Date;
}

/**
 * The usage in each window at a time, in the order of the windows; without one, now by the database's clock: inside a
 * transaction, as of its beginning. What is undecided counts however long ago it was; what was not executed never does. `except` leaves the
 * execution of one transaction out. `by`: what the service has reserved, or what the signer has authorized.
 */
export async function readUsage(
  db: Db | Tx,
  windows: readonly UsageWindow[],
  options: { except?: string; by?: 'service' | 'signer'; at?: Date } = {},
): Promise<Usage[]> {
  if (windows.length === 0) return [];
  const now = options.at ? '?::timestamptz' : `date_trunc('milliseconds', now())`;
  const time = options.at ? [options.at.toISOString()] : [];
  // One SELECT per window, with only its own conditions: the planner can estimate how few rows it reads.
  const selects = windows.map((window, place) => {
    const conditions: [string, string | number | null | undefined][] = [
      ['u.network_id = ?', window.asset?.networkId],
      ['lower(u.token_address) = lower(?)', window.asset?.tokenAddress],
      ['u.initiator_id = ?', window.initiatorId],
      ['u.account_id = ?', window.accountId],
      ['lower(u.destination) = lower(?)', window.destination],
      ['u.transaction_id <> ?', options.except],
    ];
    const wanted = conditions.filter(([, value]) => value !== null && value !== undefined);
    return {
      text: `SELECT ${place} AS place, ${now} AS at, coalesce(sum(u.amount), 0)::text AS amount,
          count(*) AS executions, min(u.block_at) AS oldest_block_at
        FROM ${options.by === 'signer' ? 'authorizations' : 'policy_usage'} u WHERE u.policy_id = ?
          AND u.counted_from >= ${now} - make_interval(hours => ?::integer)
          ${wanted.map(([condition]) => `AND ${condition}`).join(' ')}`,
      values: [...time, window.policyId, ...time, window.hours, ...wanted.map(([, value]) => value ?? null)],
    };
  });
  const rows = await queryRows<UsageColumns>(
    db,
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

/** What an execution uses of a policy. */
export interface UsageOfExecution {
  readonly organizationId: string;
  readonly policyId: string;
  readonly transactionId: string;
  readonly networkId: number;
  /** The zero address is the native currency, which contract calls send as well. */
  readonly tokenAddress: string;
  readonly amount: bigint;
  readonly initiatorId: string;
  readonly accountId: string;
  /** Recipient of a token transfer, contract of a call. */
  readonly destination: string;
}

/** What an execution uses, as columns. */
export function usageColumns(usage: UsageOfExecution) {
  return {
    organization_id: usage.organizationId,
    policy_id: usage.policyId,
    transaction_id: usage.transactionId,
    network_id: usage.networkId,
    token_address: usage.tokenAddress,
    amount: String(usage.amount),
    initiator_id: usage.initiatorId,
    account_id: usage.accountId,
    destination: usage.destination,
  };
}

/** What an execution uses, from a row that has its columns. */
export function usageIn(row: PolicyUsageRow | AuthorizationRow): UsageOfExecution {
  return {
    organizationId: row.organization_id,
    policyId: row.policy_id,
    transactionId: row.transaction_id,
    networkId: Number(row.network_id),
    tokenAddress: row.token_address,
    amount: BigInt(row.amount),
    initiatorId: row.initiator_id,
    accountId: row.account_id,
    destination: row.destination,
  };
}
