import type { TransactionRef } from '../domain/transaction';
import type { Db, Tx } from './database';
import { type UsageOfExecution, usageIn } from './policyUsage';
import { queryRows } from './rows';
import type { AuthorizationRow } from './tables';

/** What was decided about a transaction on chain; or `rejected`: nothing of it was authorized, and never will be. */
export type AuthorizationOutcome = NonNullable<AuthorizationRow['outcome']>;

const PAGE = 1_000;

/** An authorization on one network, as it is compared with the chain. */
export interface RecordedAuthorization {
  readonly transactionId: string;
  readonly accountId: string;
  readonly address: string;
  readonly safeNonce: bigint;
  readonly safeTxHash: string;
  /** The hash of the empty call that cancels it; null where there is none. */
  readonly cancellationHash: string | null;
  /** The hash of the recorded execution that has used its nonce and that nobody here has authorized; null where there is none. */
  readonly unknownHash: string | null;
  readonly authorizedAt: Date;
  /** As the signer has read it, or else as it is recorded; null while it is undecided. */
  readonly outcome: 'executed' | 'reverted' | 'cancelled' | null;
  /** The block that is recorded. */
  readonly blockNumber: bigint | null;
  /** It is in no earlier block. */
  readonly fromBlock: bigint;
}

/** The authorizations on a network: undecided ones, then the newest; at most `limit`, and how many there are. */
export async function recordedAuthorizations(
  db: Db | Tx,
  networkId: number,
  limit: number,
): Promise<{ readonly authorizations: readonly RecordedAuthorization[]; readonly total: number }> {
  const rows = await queryRows<{
    transaction_id: string;
    account_id: string;
    address: string;
    safe_nonce: bigint;
    safe_tx_hash: string;
    cancellation_hash: string | null;
    unknown_hash: string | null;
    authorized_at: Date;
    outcome: RecordedAuthorization['outcome'];
    block_number: bigint | null;
    from_block: bigint;
    total: number;
  }>(
    db,
    `SELECT z.transaction_id, z.account_id, a.address, z.safe_nonce, z.safe_tx_hash, c.safe_tx_hash AS cancellation_hash,
        u.safe_tx_hash AS unknown_hash,
        z.authorized_at, coalesce(z.outcome, t.outcome) AS outcome, t.block_number, coalesce(t.from_block, 0) AS from_block,
        count(*) OVER ()::integer AS total
      FROM authorizations z
      JOIN accounts a ON a.id = z.account_id
      LEFT JOIN chain_attempts t ON t.transaction_id = z.transaction_id AND t.kind = 'transaction'
      LEFT JOIN chain_attempts c ON c.transaction_id = z.transaction_id AND c.kind = 'cancellation'
      LEFT JOIN unknown_executions u
        ON u.account_id = z.account_id AND u.network_id = z.network_id AND u.safe_nonce = z.safe_nonce
      WHERE z.network_id = ? AND z.safe_nonce IS NOT NULL
      ORDER BY coalesce(z.outcome, t.outcome) IS NULL DESC, z.authorized_at DESC, z.transaction_id
      LIMIT ?`,
    [networkId, limit],
  );
  const authorizations = rows.map((row) => ({
    transactionId: row.transaction_id,
    accountId: row.account_id,
    address: row.address,
    safeNonce: row.safe_nonce,
    safeTxHash: row.safe_tx_hash,
    cancellationHash: row.cancellation_hash,
    unknownHash: row.unknown_hash,
    authorizedAt: row.authorized_at,
    outcome: row.outcome,
    blockNumber: row.block_number,
    fromBlock: row.from_block,
  }));
  return { authorizations, total: rows[0]?.total ?? 0 };
}

function refOf(row: Pick<AuthorizationRow, 'organization_id' | 'transaction_id'>): TransactionRef {
  return { organizationId: row.organization_id, transactionId: row.transaction_id };
}

/** SQL: whether the chain worker has recorded the outcome of a transaction's attempt; `id`: SQL of its id. */
const isDecided = (id: string) =>
  `EXISTS (SELECT FROM chain_attempts c
    WHERE c.transaction_id = ${id} AND c.kind = 'transaction' AND c.outcome IS NOT NULL)`;

/**
 * The authorized transactions whose outcome the chain worker has not recorded, newest first: of one organization, or of all.
 */
export async function inFlightAuthorizations(
  db: Db,
  organizationId: string | undefined,
): Promise<TransactionRef[]> {
  const query = db('authorizations')
    .whereNotNull('safe_nonce')
    .whereRaw(`NOT ${isDecided('authorizations.transaction_id')}`)
    .orderBy('authorized_at', 'desc');
  if (organizationId !== undefined) query.where({ organization_id: organizationId });
  const rows = await query.select('organization_id', 'transaction_id');
  return rows.map(refOf);
}

/** Ids of transactions whose attempt has another safeTxHash than their authorization; at most `limit`. */
export async function rewrittenAttempts(db: Db, limit: number): Promise<string[]> {
  const rows = await queryRows<{ transaction_id: string }>(
    db,
    `SELECT z.transaction_id FROM authorizations z JOIN chain_attempts c ON c.transaction_id = z.transaction_id
      WHERE c.kind = 'transaction' AND c.safe_tx_hash <> z.safe_tx_hash ORDER BY z.transaction_id LIMIT ?`,
    [limit],
  );
  return rows.map((row) => row.transaction_id);
}

/** Leaves out the transactions whose outcome the chain worker has recorded; keeps the order. */
export async function withoutDecided<T extends { readonly transactionId: string }>(
  db: Db,
  transactions: readonly T[],
): Promise<T[]> {
  const left: T[] = [];
  for (let from = 0; from < transactions.length; from += PAGE) {
    const page = transactions.slice(from, from + PAGE);
    const rows = await queryRows<{ id: string }>(
      db,
      `SELECT asked.id FROM unnest(?::text[]) AS asked (id) WHERE ${isDecided('asked.id')}`,
      [page.map(({ transactionId }) => transactionId)],
    );
    const decided = new Set(rows.map(({ id }) => id));
    left.push(...page.filter(({ transactionId }) => !decided.has(transactionId)));
  }
  return left;
}

/** An authorization as a proof shows it: amounts and nonces in decimal digits, times in ISO 8601. */
export interface ShownAuthorization extends Omit<UsageOfExecution, 'organizationId' | 'amount'> {
  /** Null where it was rejected. */
  readonly safeNonce: string | null;
  readonly safeTxHash: string | null;
  readonly amount: string;
  readonly authorizedAt: string;
  /** Null: not decided yet. */
  readonly outcome: AuthorizationOutcome | null;
  readonly blockAt: string | null;
}

/** Every authorization of an organization, oldest first. */
export async function listAuthorizations(db: Db | Tx, organizationId: string): Promise<ShownAuthorization[]> {
  const rows = await db('authorizations')
    .where({ organization_id: organizationId })
    .orderBy(['authorized_at', 'transaction_id']);
  return rows.map((row) => {
    const { organizationId: _, ...usage } = usageIn(row);
    return {
      ...usage,
      amount: row.amount,
      safeNonce: row.safe_nonce === null ? null : String(row.safe_nonce),
      safeTxHash: row.safe_tx_hash,
      authorizedAt: row.authorized_at.toISOString(),
      outcome: row.outcome,
      blockAt: row.block_at === null ? null : row.block_at.toISOString(),
    };
  });
}
