import type { AccountDerivation } from '../domain/account';
import type { AccountRescue } from '../domain/adminsSafe';
import type { Db, Tx } from './database';
import { queryRows, type Statement } from './rows';
import type { AccountRow } from './tables';

/** A shared wallet: one smart account, with one address on all its networks. */
export interface Account {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly address: string;
  /** Chain ids of the networks it is deployed on, ascending. */
  readonly networkIds: readonly number[];
  /** Whether the admins can take it over, on each of them. */
  readonly rescues: readonly AccountRescue[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly position: bigint;
}

const columns = `accounts.*, coalesce((SELECT array_agg(n.network_id ORDER BY n.network_id)
  FROM account_networks n WHERE n.account_id = accounts.id), '{}') AS network_ids,
  coalesce((SELECT array_agg(coalesce(r.rescue,
      CASE WHEN (SELECT s.on_chain FROM admin_sets s WHERE s.organization_id = accounts.organization_id)
        THEN 'pending' ELSE 'none' END) ORDER BY n.network_id)
    FROM account_networks n LEFT JOIN account_rescues r ON r.account_id = n.account_id AND r.network_id = n.network_id
    WHERE n.account_id = accounts.id), '{}') AS rescues`;

/** What `columns` reads. */
interface AccountColumns extends AccountRow {
  readonly network_ids: readonly string[];
  readonly rescues: readonly AccountRescue[];
}

function account(row: AccountColumns): Account {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    address: row.address,
    networkIds: row.network_ids.map(Number),
    rescues: row.rescues,
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
    .select<AccountColumns[]>(db.raw(columns))
    .where({ organization_id: page.organizationId })
    .whereRaw(deployed)
    .orderBy('position', 'desc');
  if (page.before !== undefined) query.where('position', '<', page.before);
  if (page.limit !== undefined) query.limit(page.limit);
  return (await query).map(account);
}

/** The given accounts that exist in the organization and are on at least one network. */
export async function findAccounts(
  db: Db | Tx,
  organizationId: string,
  ids: readonly string[],
): Promise<Account[]> {
  const query = db('accounts')
    .select<AccountColumns[]>(db.raw(columns))
    .where({ organization_id: organizationId })
    .whereIn('id', [...ids])
    .whereRaw(deployed)
    .orderBy('id');
  return (await query).map(account);
}

/** One account that is on at least one network, or undefined. */
export async function findAccount(
  db: Db | Tx,
  organizationId: string,
  id: string,
): Promise<Account | undefined> {
  return (await findAccounts(db, organizationId, [id]))[0];
}

/** Whether an account of the organization has an address, however it is written. */
export async function isAccountAddress(db: Db, organizationId: string, address: string): Promise<boolean> {
  const found = db('accounts').where({ organization_id: organizationId });
  return (await found.whereRaw('lower(address) = lower(?)', [address]).first('id')) !== undefined;
}

/** An account of the organization, even on no network yet; locked until the end of the transaction. */
export async function findAccountToDeploy(
  tx: Tx,
  organizationId: string,
  id: string,
): Promise<Account | undefined> {
  const row = await tx('accounts')
    .select<AccountColumns[]>(tx.raw(columns))
    .where({ organization_id: organizationId, id })
    .forNoKeyUpdate()
    .first();
  return row && account(row);
}

/** Stores accounts that are on no network yet. `markAccountDeployed` sets their position. */
export async function insertAccounts(
  tx: Tx,
  organizationId: string,
  accounts: readonly { readonly id: string; readonly name: string; readonly derived: AccountDerivation }[],
): Promise<void> {
  await tx('accounts')
    .insert(
      accounts.map(({ id, name, derived }) => ({
        id,
        organization_id: organizationId,
        name,
        address: derived.address,
        owner_address: derived.ownerAddress,
        singleton: derived.singleton,
        factory: derived.factory,
        fallback_handler: derived.fallbackHandler,
        initializer: derived.initializer,
        salt_nonce: derived.saltNonce,
        position: 0,
      })),
    )
    .onConflict('id')
    .ignore();
}

/** Renames an account. */
export function renameAccount(tx: Tx, id: string, name: string): Statement {
  return tx('accounts')
    .where({ id })
    .update({ name, updated_at: tx.raw('now()') });
}

/** Adds a network to an account; does nothing if it is already on it. */
export async function insertAccountNetwork(
  tx: Tx,
  on: {
    readonly accountId: string;
    readonly networkId: number;
    readonly transactionHash: string | null;
    readonly blockNumber: string | null;
  },
): Promise<void> {
  await tx('account_networks')
    .insert({
      account_id: on.accountId,
      network_id: on.networkId,
      transaction_hash: on.transactionHash,
      block_number: on.blockNumber,
    })
    .onConflict(['account_id', 'network_id'])
    .ignore();
}

/** Records that an account has changed. `position`: its new position in the order of commit. */
export async function markAccountDeployed(tx: Tx, id: string, position?: bigint): Promise<void> {
  await tx('accounts')
    .where({ id })
    .update({
      updated_at: tx.raw('now()'),
      ...(position === undefined ? {} : { position }),
    });
}

/** How many accounts are on each network. */
export async function countAccountsByNetwork(
  db: Db | Tx,
): Promise<{ readonly networkId: number; readonly accounts: number }[]> {
  const rows = await queryRows<{ network_id: bigint; accounts: bigint }>(
    db,
    'SELECT network_id, count(*) AS accounts FROM account_networks GROUP BY network_id ORDER BY network_id',
  );
  return rows.map(({ network_id, accounts }) => ({
    networkId: Number(network_id),
    accounts: Number(accounts),
  }));
}

/** The derivation of an account's address, or undefined when it is not found. */
export async function findAccountDerivation(
  db: Db | Tx,
  organizationId: string,
  accountId: string,
): Promise<AccountDerivation | undefined> {
  const row = await db('accounts').where({ organization_id: organizationId, id: accountId }).first();
  return (
    row && {
      address: row.address,
      ownerAddress: row.owner_address,
      singleton: row.singleton,
      factory: row.factory,
      fallbackHandler: row.fallback_handler,
      initializer: row.initializer,
      saltNonce: row.salt_nonce,
    }
  );
}
