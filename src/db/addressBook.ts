import type { Db, Tx } from './database';
import { queryRows } from './rows';
import type { AddressBookEntryRow } from './tables';

/** The name of an address, for people to read. */
export interface AddressBookEntry {
  /** adr_… */
  readonly id: string;
  readonly name: string;
  /** As names are compared. */
  readonly foldedName: string;
  /** Checksummed. */
  readonly address: string;
  /** null: on every network. */
  readonly networkId: number | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Position in the order of commit. */
  readonly position: bigint;
}

function entry(row: AddressBookEntryRow): AddressBookEntry {
  return {
    id: row.id,
    name: row.name,
    foldedName: row.folded_name,
    address: row.address,
    networkId: row.network_id === null ? null : Number(row.network_id),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    position: row.position,
  };
}

/** The entries of an organization whose name or address contains a text, newest first; all of them, or a page. */
export async function listAddressBook(
  db: Db | Tx,
  page: { organizationId: string; text?: string; before?: bigint; limit?: number },
): Promise<AddressBookEntry[]> {
  const query = db('address_book_entries')
    .where({ organization_id: page.organizationId })
    .orderBy('position', 'desc');
  const { text } = page;
  if (text !== undefined) {
    query.where((either) =>
      either
        .whereRaw('strpos(lower(name), lower(?)) > 0', [text])
        .orWhereRaw('strpos(lower(address), lower(?)) > 0', [text]),
    );
  }
  if (page.before !== undefined) query.where('position', '<', page.before);
  if (page.limit !== undefined) query.limit(page.limit);
  return (await query).map(entry);
}

/** One entry, or undefined. */
export async function findAddressBookEntry(
  db: Db | Tx,
  organizationId: string,
  id: string,
): Promise<AddressBookEntry | undefined> {
  const row = await db('address_book_entries').where({ organization_id: organizationId, id }).first();
  return row && entry(row);
}

/** The entries that have one of some names, or one of some addresses on whichever network. */
export async function findHolders(
  tx: Tx,
  organizationId: string,
  {
    foldedNames,
    addresses,
  }: { readonly foldedNames: readonly string[]; readonly addresses: readonly string[] },
): Promise<AddressBookEntry[]> {
  const rows = await tx('address_book_entries')
    .where({ organization_id: organizationId })
    .where((either) =>
      either
        .whereRaw('folded_name = ANY(?)', [[...foldedNames]])
        .orWhereRaw('address = ANY(?)', [[...addresses]]),
    );
  return rows.map(entry);
}

/** How many entries an organization has. */
export async function countAddressBook(tx: Tx, organizationId: string): Promise<number> {
  const [row] = await tx('address_book_entries').where({ organization_id: organizationId }).count();
  return Number(row?.count ?? 0);
}

/** What an entry says. */
export type AddressBookContent = Pick<
  AddressBookEntry,
  'id' | 'name' | 'foldedName' | 'address' | 'networkId'
>;

/** Stores new entries; `setPositions` sets their positions. */
export async function insertAddressBookEntries(
  tx: Tx,
  organizationId: string,
  entries: readonly AddressBookContent[],
): Promise<void> {
  if (entries.length === 0) return;
  await tx('address_book_entries').insert(
    entries.map(({ id, name, foldedName, address, networkId }) => ({
      id,
      organization_id: organizationId,
      name,
      folded_name: foldedName,
      address,
      network_id: networkId,
      position: 0,
    })),
  );
}

/** Gives entries other content. */
export async function updateAddressBookEntries(
  tx: Tx,
  entries: readonly AddressBookContent[],
): Promise<void> {
  const columns = entries.map(({ id, name, foldedName, address, networkId }) => {
    return { id, name, folded_name: foldedName, address, network_id: networkId };
  });
  await tx.raw(
    `UPDATE address_book_entries e SET name = v.name, folded_name = v.folded_name, address = v.address,
      network_id = v.network_id, updated_at = now()
    FROM jsonb_to_recordset(?::jsonb) AS v (id text, name text, folded_name text, address text, network_id bigint)
    WHERE e.id = v.id`,
    [JSON.stringify(columns)],
  );
}

/** Removes an entry. */
export async function deleteAddressBookEntry(tx: Tx, id: string): Promise<void> {
  await tx('address_book_entries').where({ id }).delete();
}

/** A member or an account, which has a name and an address of its own. */
export interface NamedByAdmins {
  readonly type: 'member' | 'account';
  readonly id: string;
  readonly name: string;
  readonly address: string;
}

/** The members and accounts of an organization. */
export function listNamedByAdmins(db: Db | Tx, organizationId: string): Promise<NamedByAdmins[]> {
  return queryRows<NamedByAdmins>(
    db,
    `SELECT 'account' AS type, id, name, address FROM accounts WHERE organization_id = ?
     UNION ALL SELECT 'member', id, name, wallet_address FROM members WHERE organization_id = ? AND removed_at IS NULL`,
    [organizationId, organizationId],
  );
}
