import type { Db, Tx } from '../../db/database';
import { type UnknownExecution, unknownExecution } from '../../db/unknownExecutions';

/** Records an unknown execution, once; only the signer and the owner of the tables may. */
export async function insertUnknownExecution(tx: Db | Tx, execution: UnknownExecution): Promise<void> {
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
  return rows.map(unknownExecution);
}
