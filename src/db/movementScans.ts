import type { Db, Tx } from './database';
import { execute, queryRows } from './rows';

/** Up to which block every account of a network is read. */
export interface ScanPlace {
  readonly number: bigint;
  readonly hash: string;
  readonly time: Date;
}

/** An account that is read on a network. */
interface ScannedAccountRow {
  readonly id: string;
  readonly organizationId: string;
  /** Checksummed. */
  readonly address: `0x${string}`;
}

/** How long a process may be silent before another one reads a network in its place, in seconds. */
const LEASE_SECONDS = 30;

/** Takes or keeps the lease of a network for a process; false while another one has it. */
export async function leaseScan(db: Db, networkId: number, owner: string): Promise<boolean> {
  const taken = await execute(
    db,
    `INSERT INTO movement_scans AS s (network_id, lease_owner, lease_until)
      VALUES (:networkId, :owner::uuid, now() + make_interval(secs => :seconds))
    ON CONFLICT (network_id) DO UPDATE SET lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
      WHERE s.lease_owner IS NULL OR s.lease_owner = excluded.lease_owner OR s.lease_until < now()`,
    { networkId, owner, seconds: LEASE_SECONDS },
  );
  return taken === 1;
}

/** Ends the lease of a process. */
export async function releaseScan(db: Db, networkId: number, owner: string): Promise<void> {
  await db('movement_scans')
    .where({ network_id: BigInt(networkId), lease_owner: owner })
    .update({ lease_owner: null, lease_until: null });
}

/** Locks a network until the end of the transaction; false where another process has its lease. */
export async function holdsScan(tx: Tx, networkId: number, owner: string): Promise<boolean> {
  const row = await tx('movement_scans')
    .where({ network_id: BigInt(networkId), lease_owner: owner })
    .forUpdate()
    .first('network_id');
  return row !== undefined;
}

/** Up to where a network is read; undefined before its first reading. */
export async function findScanPlace(db: Db | Tx, networkId: number): Promise<ScanPlace | undefined> {
  const row = await db('movement_scans')
    .where({ network_id: BigInt(networkId) })
    .first();
  if (!row || row.block_number === null || row.block_hash === null || row.block_at === null) return undefined;
  return { number: row.block_number, hash: row.block_hash, time: row.block_at };
}

/** How many blocks are remembered to go back to, the newest of those that readings ended at. */
const REMEMBERED_BLOCKS = 256;

/** Records up to where a network is read. */
export async function moveScan(tx: Tx, networkId: number, { number, hash, time }: ScanPlace): Promise<void> {
  await tx('movement_scans')
    .where({ network_id: BigInt(networkId) })
    .update({ block_number: number, block_hash: hash, block_at: time });
  await tx('movement_scan_blocks')
    .where({ network_id: BigInt(networkId) })
    .where((gone) =>
      gone
        .where('block_number', '>=', String(number))
        .orWhere(
          'block_number',
          '<',
          tx.raw(
            '(SELECT min(block_number) FROM (SELECT block_number FROM movement_scan_blocks WHERE network_id = ? ORDER BY block_number DESC LIMIT ?) AS newest)',
            [networkId, REMEMBERED_BLOCKS],
          ),
        ),
    )
    .delete();
  await tx('movement_scan_blocks').insert({
    network_id: BigInt(networkId),
    block_number: number,
    block_hash: hash,
  });
}

/** The blocks that readings of a network ended at, newest first. */
export async function listScanBlocks(
  db: Db,
  networkId: number,
): Promise<{ readonly number: bigint; readonly hash: string }[]> {
  const rows = await db('movement_scan_blocks')
    .where({ network_id: BigInt(networkId) })
    .orderBy('block_number', 'desc');
  return rows.map((row) => ({ number: row.block_number, hash: row.block_hash }));
}

/** Deployments that were recorded so long ago are not new: what they had received is not reported as if it were now. */
const NEW_FOR = "interval '1 day'";

/** An account of a network that is not read yet, and the block that it was deployed in; null: in which one is not known. */
export interface JoiningAccount {
  readonly accountId: string;
  readonly address: string;
  readonly blockNumber: bigint | null;
}

/** The accounts of a network that no reading includes yet. */
export function listJoiningAccounts(db: Db, networkId: number): Promise<JoiningAccount[]> {
  return queryRows<JoiningAccount>(
    db,
    `SELECT n.account_id AS "accountId", a.address, n.block_number AS "blockNumber"
    FROM account_networks n JOIN accounts a ON a.id = n.account_id
    WHERE n.network_id = ? AND NOT EXISTS (
      SELECT FROM account_scans s WHERE s.account_id = n.account_id AND s.network_id = n.network_id)
    ORDER BY n.account_id`,
    [networkId],
  );
}

/** Includes accounts in the readings from `untilBlock` on; what was before is read of each from a block of its own on. */
export async function joinScan(
  tx: Tx,
  networkId: number,
  joining: readonly { readonly accountId: string; readonly fromBlock: bigint }[],
  untilBlock: bigint,
): Promise<void> {
  if (joining.length === 0) return;
  await execute(
    tx,
    `INSERT INTO account_scans (account_id, network_id, from_block, next_block, until_block, announced)
    SELECT n.account_id, n.network_id, j."fromBlock", j."fromBlock", greatest(j."fromBlock", ?), n.deployed_at > now() - ${NEW_FOR}
    FROM jsonb_to_recordset(?::jsonb) AS j ("accountId" text, "fromBlock" bigint)
    JOIN account_networks n ON n.account_id = j."accountId" AND n.network_id = ?
    ON CONFLICT DO NOTHING`,
    [
      String(untilBlock),
      JSON.stringify(
        joining.map(({ accountId, fromBlock }) => ({ accountId, fromBlock: String(fromBlock) })),
      ),
      networkId,
    ],
  );
}

const SCANNED = `SELECT a.id, a.organization_id AS "organizationId", a.address
  FROM account_scans s JOIN accounts a ON a.id = s.account_id WHERE s.network_id = ?`;

/** The accounts of a network that readings include. */
export function listScannedAccounts(db: Db, networkId: number): Promise<ScannedAccountRow[]> {
  return queryRows<ScannedAccountRow>(db, `${SCANNED} ORDER BY a.id`, [networkId]);
}

/** Accounts whose past is to be read, from the same block on. */
export interface Backfill {
  readonly from: bigint;
  /** The last block of the first that is done. */
  readonly to: bigint;
  readonly accounts: readonly (ScannedAccountRow & { readonly announced: boolean })[];
}

/** The accounts that are furthest behind, at most so many, and what they have in common to be read; undefined: none is behind. */
export async function nextBackfill(db: Db, networkId: number, atMost: number): Promise<Backfill | undefined> {
  const rows = await queryRows<Backfill['accounts'][number] & { next: bigint; until: bigint }>(
    db,
    // Up to where others are: from there on they are read together.
    `SELECT a.id, a.organization_id AS "organizationId", a.address, s.announced, s.next_block AS next,
      least(min(s.until_block) OVER (), (SELECT min(o.next_block) FROM account_scans o
        WHERE o.network_id = :networkId AND o.next_block < o.until_block AND o.next_block > s.next_block)) AS until
    FROM account_scans s JOIN accounts a ON a.id = s.account_id
    WHERE s.network_id = :networkId AND s.next_block < s.until_block
      AND s.next_block = (SELECT min(next_block) FROM account_scans
        WHERE network_id = :networkId AND next_block < until_block)
    ORDER BY a.id LIMIT :atMost`,
    { networkId, atMost },
  );
  const [first] = rows;
  if (!first) return undefined;
  const accounts = rows.map(({ id, organizationId, address, announced }) => ({
    ...{ id, organizationId, address, announced },
  }));
  return { from: first.next, to: first.until - 1n, accounts };
}

/** Records that the past of accounts is read up to a block. */
export async function moveBackfill(
  tx: Tx,
  networkId: number,
  { from, to, accounts }: Backfill,
): Promise<void> {
  await tx('account_scans')
    .where({ network_id: BigInt(networkId), next_block: from })
    .whereIn(
      'account_id',
      accounts.map(({ id }) => id),
    )
    .update({ next_block: to + 1n });
}

/** How far the past of accounts is read on a network. */
export interface BackfillProgress {
  readonly networkId: number;
  /** That are not read up to now. */
  readonly accounts: number;
  /** Of all of them together. */
  readonly blocksRead: string;
  readonly blocksLeft: string;
}

/** How much of the past is left to be read on a network. */
export async function readBackfillProgress(db: Db, networkId: number): Promise<BackfillProgress> {
  const [row] = await queryRows<Omit<BackfillProgress, 'networkId'>>(
    db,
    `SELECT count(*)::integer AS accounts, coalesce(sum(next_block - from_block), 0)::text AS "blocksRead",
      coalesce(sum(until_block - next_block), 0)::text AS "blocksLeft"
    FROM account_scans WHERE network_id = ? AND next_block < until_block`,
    [networkId],
  );
  return { networkId, ...(row ?? { accounts: 0, blocksRead: '0', blocksLeft: '0' }) };
}
