import type { Db, Tx } from './database';
import type { UsageOfExecution } from './policyUsage';
import type { AuthorizationRow } from './tables';

/** What was decided about a transaction on chain; or `rejected`: nothing of it was authorized, and never will be. */
export type AuthorizationOutcome = NonNullable<AuthorizationRow['outcome']>;

/** What the signer authorizes: what a transaction spends, at one nonce of its account. */
export interface NewAuthorization extends UsageOfExecution {
  readonly safeNonce: bigint;
  readonly safeTxHash: string;
}

function usageColumns(usage: UsageOfExecution) {
  return {
    transaction_id: usage.transactionId,
    organization_id: usage.organizationId,
    policy_id: usage.policyId,
    initiator_id: usage.initiatorId,
    account_id: usage.accountId,
    network_id: usage.networkId,
    token_address: usage.tokenAddress,
    amount: String(usage.amount),
    destination: usage.destination,
  };
}

/** Stores the one authorization of a transaction, before its first envelope. */
export async function insertAuthorization(tx: Tx, authorization: NewAuthorization): Promise<void> {
  await tx('authorizations').insert({
    ...usageColumns(authorization),
    safe_nonce: authorization.safeNonce,
    safe_tx_hash: authorization.safeTxHash,
  });
}

/** Stores that a transaction was rejected, where nothing of it is authorized: it never will be. */
export async function insertRejection(tx: Tx, usage: UsageOfExecution): Promise<void> {
  await tx('authorizations')
    .insert({ ...usageColumns(usage), outcome: 'rejected' })
    .onConflict('transaction_id')
    .ignore();
}

/** Stores what the signer has read about an authorization; null: undecided again. */
export async function decideAuthorization(
  db: Db | Tx,
  transactionId: string,
  decision: { readonly outcome: AuthorizationOutcome; readonly blockAt: Date } | null,
): Promise<void> {
  await db('authorizations')
    .where({ transaction_id: transactionId })
    .update({ outcome: decision?.outcome ?? null, block_at: decision?.blockAt ?? null });
}

/** What the signer has read about the authorization of a transaction; null while that is undecided, or there is none. */
export async function findAuthorizationOutcome(
  tx: Tx,
  transactionId: string,
): Promise<AuthorizationOutcome | null> {
  const row = await tx('authorizations').where({ transaction_id: transactionId }).first('outcome');
  return row?.outcome ?? null;
}

/** The transactions of a policy whose authorizations are undecided, oldest first. */
export async function undecidedAuthorizations(
  db: Db,
  { policyId, limit }: { readonly policyId: string; readonly limit: number },
): Promise<{ readonly organizationId: string; readonly transactionId: string }[]> {
  const rows = await db('authorizations')
    .where({ policy_id: policyId, outcome: null })
    .orderBy('authorized_at')
    .limit(limit)
    .select('organization_id', 'transaction_id');
  return rows.map((row) => ({ organizationId: row.organization_id, transactionId: row.transaction_id }));
}
