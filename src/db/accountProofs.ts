import type { Unexplained } from '../domain/statement';
import type { Db, Tx } from './database';
import { execute, queryRows } from './rows';

/** An account of a network that is to be compared with its balances, and up to where it was. */
interface DueProof {
  readonly accountId: string;
  readonly organizationId: string;
  /** null: never. */
  readonly provedTo: bigint | null;
}

/**
 * The accounts of a network that are wholly read, and were not compared for a day, or for an hour in which something moved; those
 * that were never compared, or longest ago, first. None of `except`.
 */
export function listDueProofs(
  db: Db,
  networkId: number,
  { except, limit }: { readonly except: readonly string[]; readonly limit: number },
): Promise<DueProof[]> {
  return queryRows<DueProof>(
    db,
    `SELECT s.account_id AS "accountId", a.organization_id AS "organizationId", p.block_number AS "provedTo"
    FROM account_scans s JOIN accounts a ON a.id = s.account_id
    LEFT JOIN account_proofs p ON p.account_id = s.account_id AND p.network_id = s.network_id
    WHERE s.network_id = :networkId AND s.next_block >= s.until_block AND (p.proved_at IS NULL
      OR p.proved_at < now() - interval '1 day'
      OR (p.proved_at < now() - interval '1 hour' AND EXISTS (
        SELECT FROM movements m WHERE m.account_id = s.account_id AND m.network_id = s.network_id
          AND m.status = 'confirmed' AND m.block_number > p.block_number)))
      AND s.account_id <> ALL(:except)
    ORDER BY p.proved_at NULLS FIRST, s.account_id LIMIT :limit`,
    { networkId, limit, except: [...except] },
  );
}

/**
 * Records up to where an account was compared, and what of its balances no movement explains. False where another process has
 * compared it meanwhile from the same block on: then nothing is recorded.
 */
export async function noteProof(
  tx: Tx,
  {
    accountId,
    networkId,
    provedFrom,
    provedTo,
  }: {
    readonly accountId: string;
    readonly networkId: number;
    /** Up to where it was compared before; null: never. */
    readonly provedFrom: bigint | null;
    readonly provedTo: bigint;
  },
  unexplained: readonly (Unexplained & { readonly tokenAddress: string })[],
): Promise<boolean> {
  const noted = await execute(
    tx,
    `INSERT INTO account_proofs AS p (account_id, network_id, block_number, proved_at) VALUES (?, ?, ?, now())
    ON CONFLICT (account_id, network_id) DO UPDATE SET block_number = excluded.block_number, proved_at = now()
      WHERE p.block_number = ?`,
    [accountId, networkId, String(provedTo), provedFrom === null ? null : String(provedFrom)],
  );
  if (noted === 0) return false;
  if (unexplained.length === 0) return true;
  await tx('unexplained_changes').insert(
    unexplained.map(({ tokenAddress, fromBlock, toBlock, amount }) => ({
      account_id: accountId,
      network_id: BigInt(networkId),
      token_address: tokenAddress,
      from_block: fromBlock,
      to_block: toBlock,
      amount: String(amount),
    })),
  );
  return true;
}
