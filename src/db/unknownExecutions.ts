import type { Db, Tx } from './database';

/** A nonce of an account that was used by an execution that nobody here has authorized. */
export interface UnknownExecution {
  readonly organizationId: string;
  readonly accountId: string;
  readonly networkId: number;
  readonly safeNonce: bigint;
  readonly safeTxHash: string;
  readonly transactionHash: string;
}

/** Records an unknown execution, once; only the owner of the tables may. */
export async function insertUnknownExecution(tx: Tx, execution: UnknownExecution): Promise<void> {
  await tx('unknown_executions')
    .insert({
      organization_id: execution.organizationId,
      account_id: execution.accountId,
      network_id: execution.networkId,
      safe_nonce: execution.safeNonce,
      safe_tx_hash: execution.safeTxHash,
      transaction_hash: execution.transactionHash,
    })
    .onConflict(['account_id', 'network_id', 'safe_nonce'])
    .ignore();
}

/** The recorded ones. */
export async function listUnknownExecutions(db: Db | Tx): Promise<UnknownExecution[]> {
  const rows = await db('unknown_executions').orderBy(['account_id', 'network_id', 'safe_nonce']);
  return rows.map((row) => ({
    organizationId: row.organization_id,
    accountId: row.account_id,
    networkId: Number(row.network_id),
    safeNonce: row.safe_nonce,
    safeTxHash: row.safe_tx_hash,
    transactionHash: row.transaction_hash,
  }));
}
