import type { Db, Row, Tx } from './database';

/** A shared wallet: one smart account, the same address on every network it is on. */
export interface Account {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly address: string;
  /** Chain ids of the networks it is deployed on, ascending. */
  readonly networkIds: readonly number[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly position: bigint;
}

const columns = `accounts.*, coalesce((SELECT array_agg(n.network_id ORDER BY n.network_id)
  FROM account_networks n WHERE n.account_id = accounts.id), '{}') AS network_ids`;

function account(row: Row): Account {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    address: row.address,
    networkIds: row.network_ids.map(Number),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    position: row.position,
  };
}

const deployed = 'EXISTS (SELECT 1 FROM account_networks n WHERE n.account_id = accounts.id)';

/** The accounts that are on at least one network, newest first; all of them, or a page. */
export async function listAccounts(
  db: Db | Tx,
  page: { organizationId: string; before?: bigint; limit?: number },
): Promise<Account[]> {
  const query = db('accounts')
    .select(db.raw(columns))
    .where({ organization_id: page.organizationId })
    .whereRaw(deployed)
    .orderBy('position', 'desc');
  if (page.before !== undefined) query.where('position', '<', String(page.before));
  if (page.limit !== undefined) query.limit(page.limit);
  return (await query).map((row: Row) => account(row));
}

/** Those of the given accounts that exist in the organization and are on at least one network. */
export async function findAccounts(
  db: Db | Tx,
  organizationId: string,
  ids: readonly string[],
  options: { lock?: 'update' } = {},
): Promise<Account[]> {
  const query = db('accounts')
    .select(db.raw(columns))
    .where({ organization_id: organizationId })
    .whereIn('id', [...ids])
    .whereRaw(deployed)
    .orderBy('id');
  if (options.lock) query.forUpdate();
  return (await query).map((row: Row) => account(row));
}

/** One account that is on at least one network, or undefined. */
export async function findAccount(
  db: Db | Tx,
  organizationId: string,
  id: string,
): Promise<Account | undefined> {
  return (await findAccounts(db, organizationId, [id]))[0];
}
