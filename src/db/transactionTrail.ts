import { type AccountAttemptRow, selectAttempts } from './attempts';
import type { Db, Tx } from './database';
import type { ChainAttemptRow, ChainEnvelopeRow, PolicyUsageRow } from './tables';

/** A signed transaction of a relayer that carried an attempt, or was to. Amounts are decimal wei. */
interface TrailEnvelope {
  readonly transactionHash: string;
  readonly relayerAddress: string;
  readonly relayerNonce: string;
  readonly gas: string;
  readonly maxFeePerGas: string;
  readonly maxPriorityFeePerGas: string;
  readonly createdAt: Date;
  readonly sentAt: Date | null;
  readonly outcome: ChainEnvelopeRow['outcome'];
}

/** A signed attempt of a transaction. */
export interface TrailAttempt {
  readonly kind: 'transaction' | 'cancellation';
  /** Nonce of the account. */
  readonly safeNonce: string;
  readonly safeTxHash: string;
  readonly createdAt: Date;
  readonly outcome: ChainAttemptRow['outcome'];
  readonly transactionHash: string | null;
  readonly blockNumber: string | null;
  readonly blockAt: Date | null;
  readonly confirmations: number;
  readonly envelopes: readonly TrailEnvelope[];
}

/** A transaction's usage of its policy's budget. */
export interface TrailUsage {
  readonly policyId: string;
  readonly tokenAddress: string;
  /** In the token's smallest unit. */
  readonly amount: string;
  readonly status: PolicyUsageRow['status'];
  readonly reservedAt: Date;
  readonly blockAt: Date | null;
  readonly decidedAt: Date | null;
}

/** Everything that a transaction has left: what was signed for it, what was sent, what it took of the budget. Oldest first. */
export async function readTransactionTrail(
  db: Db | Tx,
  transactionId: string,
): Promise<{ readonly attempts: TrailAttempt[]; readonly usage: TrailUsage[] }> {
  const attempts: (AccountAttemptRow & Pick<ChainAttemptRow, 'created_at' | 'block_at'>)[] =
    await selectAttempts(db)
      .where({ transaction_id: transactionId })
      .orderBy('id')
      .select('created_at', 'block_at');
  const envelopes = await db('chain_envelopes')
    .whereIn(
      'attempt_id',
      attempts.map(({ id }) => id),
    )
    .orderBy('id');
  const usage = await db('policy_usage').where({ transaction_id: transactionId }).orderBy('id');
  return {
    attempts: attempts.map((row) => ({
      kind: row.kind,
      safeNonce: String(row.safe_nonce),
      safeTxHash: row.safe_tx_hash,
      createdAt: row.created_at,
      outcome: row.outcome,
      transactionHash: row.outcome_hash,
      blockNumber: row.block_number === null ? null : String(row.block_number),
      blockAt: row.block_at,
      confirmations: row.confirmations,
      envelopes: envelopes.filter((one) => one.attempt_id === row.id).map(trailEnvelope),
    })),
    usage: usage.map((row) => ({
      policyId: row.policy_id,
      tokenAddress: row.token_address,
      amount: row.amount,
      status: row.status,
      reservedAt: row.reserved_at,
      blockAt: row.block_at,
      decidedAt: row.decided_at,
    })),
  };
}

function trailEnvelope(row: ChainEnvelopeRow): TrailEnvelope {
  return {
    transactionHash: row.transaction_hash,
    relayerAddress: row.relayer_address,
    relayerNonce: String(row.relayer_nonce),
    gas: row.gas,
    maxFeePerGas: row.max_fee_per_gas,
    maxPriorityFeePerGas: row.max_priority_fee_per_gas,
    createdAt: row.created_at,
    sentAt: row.sent_at,
    outcome: row.outcome,
  };
}
