import type { Tx } from './database';
import type { UnknownExecutionRow } from './tables';

/** A nonce of an account that was used by an execution that nobody here has authorized. */
export interface UnknownExecution {
  readonly organizationId: string;
  readonly accountId: string;
  readonly networkId: number;
  readonly safeNonce: bigint;
  readonly safeTxHash: string;
  readonly transactionHash: string;
}

/** An unknown execution as it is stored. */
export function unknownExecution(row: UnknownExecutionRow): UnknownExecution {
  return {
    organizationId: row.organization_id,
    accountId: row.account_id,
    networkId: Number(row.network_id),
    safeNonce: row.safe_nonce,
    safeTxHash: row.safe_tx_hash,
    transactionHash: row.transaction_hash,
  };
}

/** What has used the nonce of a transaction, where the signer has found that nobody here has authorized it. */
export async function findUnknownExecution(
  tx: Tx,
  transactionId: string,
): Promise<UnknownExecution | undefined> {
  const row: UnknownExecutionRow | undefined = await tx('unknown_executions as u')
    .join('authorizations as z', (on) =>
      on
        .on('z.account_id', 'u.account_id')
        .on('z.network_id', 'u.network_id')
        .on('z.safe_nonce', 'u.safe_nonce'),
    )
    .where({ 'z.transaction_id': transactionId })
    .first('u.*');
  return row && unknownExecution(row);
}
