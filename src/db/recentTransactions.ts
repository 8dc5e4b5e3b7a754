import type { Db, Tx } from './database';
import { queryRows } from './rows';

/** What is read of a transaction of the past. */
export interface RecentTransaction {
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  readonly createdAt: Date;
  readonly accountId: string;
  readonly accountNetworkIds: readonly number[];
  readonly networkId: number;
  readonly initiatorId: string;
  readonly to: string;
  /** In wei. */
  readonly value: bigint;
  readonly calldata: string;
  /** Whether it was executed or still can be. */
  readonly counts: boolean;
}

type Row = Omit<RecentTransaction, 'accountNetworkIds' | 'networkId' | 'value'> & {
  readonly accountNetworkIds: readonly string[];
  readonly networkId: bigint;
  readonly value: string;
};

/** The last transactions of an organization, newest first, as many as have so many bytes of calldata together. */
export async function readRecentTransactions(
  db: Db | Tx,
  organizationId: string,
  { limit, maxCalldataBytes }: { readonly limit: number; readonly maxCalldataBytes: number },
): Promise<readonly RecentTransaction[]> {
  const rows = await queryRows<Row>(
    db,
    `WITH listed AS (
        SELECT a.id, a.position, a.summary, a.created_at, a.execution_status, a.closed_at, a.expires_at, t.description,
          t.account_id, t.network_id, t.initiator_id, t.to_address, t.value, t.calldata
        FROM approvals a JOIN transactions t ON t.id = a.id
        WHERE a.organization_id = ? AND a.subject = 'transaction' ORDER BY a.position DESC LIMIT ?
      ), counted AS (
        SELECT *, sum((octet_length(calldata) - 2) / 2) OVER (ORDER BY position DESC) AS upto FROM listed
      )
      SELECT id, summary, description, created_at AS "createdAt", account_id AS "accountId",
        coalesce((SELECT array_agg(n.network_id) FROM account_networks n WHERE n.account_id = c.account_id), '{}')
          AS "accountNetworkIds",
        network_id AS "networkId", initiator_id AS "initiatorId", to_address AS "to", value::text AS value, calldata,
        coalesce(execution_status IN ('completed', 'processing'), false) OR (closed_at IS NULL AND expires_at >= now())
          AS counts
      FROM counted c WHERE upto <= ? ORDER BY position DESC`,
    [organizationId, limit, maxCalldataBytes],
  );
  return rows.map((row) => ({
    ...row,
    accountNetworkIds: row.accountNetworkIds.map(Number),
    networkId: Number(row.networkId),
    value: BigInt(row.value),
  }));
}
