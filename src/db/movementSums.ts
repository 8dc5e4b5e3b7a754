import type { MovementSums } from '../domain/statement';
import type { Db, Tx } from './database';
import { queryRows, requireRow } from './rows';

/** How far an account is read on a network. */
export interface AccountScan {
  readonly networkId: number;
  /** The first block that is read for it. */
  readonly fromBlock: bigint;
  /** The next one of its past, which ends before `untilBlock`. */
  readonly nextBlock: bigint;
  readonly untilBlock: bigint;
  /** Every account is read up to this block; null: none is yet. */
  readonly block: bigint | null;
  readonly blockAt: Date | null;
}

/** How far an account is read on its networks. */
export async function listAccountScans(db: Db | Tx, accountId: string): Promise<AccountScan[]> {
  const rows = await queryRows<Omit<AccountScan, 'networkId'> & { readonly networkId: bigint }>(
    db,
    `SELECT s.network_id AS "networkId", s.from_block AS "fromBlock", s.next_block AS "nextBlock",
      s.until_block AS "untilBlock", m.block_number AS block, m.block_at AS "blockAt"
    FROM account_scans s JOIN movement_scans m USING (network_id) WHERE s.account_id = ? ORDER BY s.network_id`,
    [accountId],
  );
  return rows.map((row) => ({ ...row, networkId: Number(row.networkId) }));
}

/** An asset of an account on a network, in blocks above one and up to another. */
export interface AssetBlocks {
  readonly accountId: string;
  readonly networkId: number;
  /** The zero address for the native currency. */
  readonly tokenAddress: string;
  readonly above: bigint;
  readonly upTo: bigint;
}

/** What the confirmed movements of an asset add up to, and how many they are. */
export async function sumMovements(
  db: Db | Tx,
  { accountId, networkId, tokenAddress, above, upTo }: AssetBlocks,
): Promise<{ readonly sums: MovementSums; readonly count: number }> {
  const [row] = await queryRows<{ in: string; out: string; fees: string; count: number }>(
    db,
    `SELECT count(*)::integer AS count, coalesce(sum(amount) FILTER (WHERE direction = 'in'), 0)::text AS "in",
      coalesce(sum(amount) FILTER (WHERE direction = 'out' AND cause <> 'fee'), 0)::text AS "out",
      coalesce(sum(amount) FILTER (WHERE direction = 'out' AND cause = 'fee'), 0)::text AS fees
    FROM movements WHERE account_id = ? AND network_id = ? AND token_address = ? AND status = 'confirmed'
      AND kind IN ('native', 'erc20') AND block_number > ? AND block_number <= ?`,
    [accountId, networkId, tokenAddress, String(above), String(upTo)],
  );
  const { count, ...sums } = requireRow(row);
  return { count, sums: { in: BigInt(sums.in), out: BigInt(sums.out), fees: BigInt(sums.fees) } };
}

/** The verified ERC-20 tokens that an account has had to do with on a network. */
export function listMovedTokens(
  db: Db | Tx,
  { accountId, networkId }: Pick<AssetBlocks, 'accountId' | 'networkId'>,
): Promise<string[]> {
  return db('movements')
    .distinct('token_address')
    .where({ account_id: accountId, network_id: BigInt(networkId), kind: 'erc20', verified: true })
    .orderBy('token_address')
    .pluck('token_address');
}
