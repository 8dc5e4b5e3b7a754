import type { AuthorizationOutcome } from '../../db/authorizations';
import type { Db, Tx } from '../../db/database';
import { type UsageOfExecution, usageColumns } from '../../db/policyUsage';
import { queryRows, type Statement } from '../../db/rows';
import type { AuthorizationRow } from '../../db/tables';
import type { TransactionRef } from '../../domain/transaction';

/** What the signer authorizes: what a transaction spends, at one nonce of its account. */
interface NewAuthorization extends UsageOfExecution {
  readonly safeNonce: bigint;
  readonly safeTxHash: string;
  /** By the signer's clock. */
  readonly authorizedAt: Date;
}

/** Stores the one authorization of a transaction, before it is signed. */
export function insertAuthorization(tx: Tx, authorization: NewAuthorization): Statement {
  return tx('authorizations').insert({
    ...usageColumns(authorization),
    safe_nonce: authorization.safeNonce,
    safe_tx_hash: authorization.safeTxHash,
    authorized_at: authorization.authorizedAt,
  });
}

/** When a transaction was authorized; undefined when it was not. */
export async function findAuthorizedAt(tx: Tx, transactionId: string): Promise<Date | undefined> {
  const row = await tx('authorizations').where({ transaction_id: transactionId }).first('authorized_at');
  return row?.authorized_at;
}

/** Whether anything was ever authorized. */
export async function hasAuthorizations(db: Db | Tx): Promise<boolean> {
  return (await db('authorizations').whereNotNull('safe_nonce').first('transaction_id')) !== undefined;
}

/** How many authorizations are read at once. */
const PAGE = 1_000;

/** What identifies an authorization. */
export interface AuthorizationKey {
  readonly organizationId: string;
  readonly transactionId: string;
  readonly accountId: string;
  readonly networkId: number;
  readonly safeNonce: bigint;
  readonly safeTxHash: string;
  readonly outcome: AuthorizationOutcome | null;
  readonly usedAt: Date | null;
  readonly authorizedAt: Date;
}

/** Every authorization, in pages. */
export async function* allAuthorizations(db: Db | Tx): AsyncGenerator<readonly AuthorizationKey[]> {
  let after = '';
  for (;;) {
    const rows = (await db('authorizations')
      .where('transaction_id', '>', after)
      .whereNotNull('safe_nonce')
      .orderBy('transaction_id')
      .limit(PAGE)) as (AuthorizationRow & { safe_nonce: bigint; safe_tx_hash: string })[];
    if (rows.length > 0) {
      yield rows.map((row) => ({
        organizationId: row.organization_id,
        transactionId: row.transaction_id,
        accountId: row.account_id,
        networkId: Number(row.network_id),
        safeNonce: row.safe_nonce,
        safeTxHash: row.safe_tx_hash,
        outcome: row.outcome,
        usedAt: row.used_at,
        authorizedAt: row.authorized_at,
      }));
    }
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = last.transaction_id;
  }
}

/**
 * Stores that a transaction was rejected, where nothing of it is authorized: it never will be. Returns the outcome that
 * it has then: another one than `rejected` where it is authorized.
 */
export async function insertRejection(tx: Tx, usage: UsageOfExecution): Promise<AuthorizationOutcome | null> {
  await tx('authorizations')
    .insert({ ...usageColumns(usage), outcome: 'rejected' })
    .onConflict('transaction_id')
    .ignore();
  return findAuthorizationOutcome(tx, usage.transactionId);
}

/** What the signer has read about an authorization. */
export type ReadOutcome =
  | { readonly outcome: Exclude<AuthorizationOutcome, 'rejected'>; readonly blockAt: Date }
  /** Undecided, or again. `usedAt`: when the signer first saw that its nonce is used, and no endpoint showed by what. */
  | { readonly outcome: null; readonly usedAt: Date | null };

/** Stores what the signer has read about authorizations, in one statement. */
export async function decideAuthorizations(
  db: Db | Tx,
  read: readonly (ReadOutcome & { readonly transactionId: string })[],
): Promise<void> {
  const rows = read.map((one) => ({
    transaction_id: one.transactionId,
    outcome: one.outcome,
    block_at: one.outcome === null ? null : one.blockAt,
    used_at: one.outcome === null ? one.usedAt : null,
  }));
  await db.raw(
    `UPDATE authorizations z SET outcome = r.outcome, block_at = r.block_at, used_at = r.used_at
      FROM jsonb_to_recordset(?::jsonb)
        AS r (transaction_id text, outcome text, block_at timestamptz, used_at timestamptz)
      WHERE z.transaction_id = r.transaction_id`,
    [JSON.stringify(rows)],
  );
}

/** What the signer has read about the authorization of a transaction; null while that is undecided, or there is none. */
export async function findAuthorizationOutcome(
  tx: Tx,
  transactionId: string,
): Promise<AuthorizationOutcome | null> {
  const row = await tx('authorizations').where({ transaction_id: transactionId }).first('outcome');
  return row?.outcome ?? null;
}

/** The account of what was authorized or rejected of a transaction, and its outcome as the signer has read it. */
export async function findAuthorization(
  tx: Db | Tx,
  transactionId: string,
): Promise<{ readonly accountId: string; readonly outcome: AuthorizationOutcome | null } | undefined> {
  const row = await tx('authorizations')
    .where({ transaction_id: transactionId })
    .first('account_id', 'outcome');
  return row && { accountId: row.account_id, outcome: row.outcome };
}

/** The transactions of a policy whose authorizations are undecided, oldest first. */
export async function undecidedAuthorizations(
  db: Db,
  { policyId, limit }: { readonly policyId: string; readonly limit: number },
): Promise<TransactionRef[]> {
  const rows = await db('authorizations')
    .where({ outcome: null, policy_id: policyId })
    .orderBy('authorized_at')
    .limit(limit)
    .select('organization_id', 'transaction_id');
  return rows.map((row) => ({ organizationId: row.organization_id, transactionId: row.transaction_id }));
}

/** The recorded blocks in which transactions were executed or cancelled, by transaction. */
export async function recordedBlocks(
  db: Db,
  transactionIds: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await queryRows<{ transaction_id: string; block_number: bigint }>(
    db,
    `SELECT DISTINCT ON (transaction_id) transaction_id, block_number FROM chain_attempts
      WHERE transaction_id = ANY (?::text[]) AND block_number IS NOT NULL ORDER BY transaction_id, id DESC`,
    [[...transactionIds]],
  );
  return new Map(rows.map((row) => [row.transaction_id, row.block_number]));
}
