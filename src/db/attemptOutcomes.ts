import type { Tx } from './database';

/** What became of an attempt, in which block. */
export interface DecidedAttempt {
  readonly attemptId: string;
  readonly kind: 'executed' | 'reverted' | 'cancelled';
  readonly transactionHash: string;
  readonly blockNumber: string;
  readonly blockHash: string;
  /** ISO 8601. */
  readonly blockTime: string;
}

/**
 * Notes what became of the undecided attempt of a transaction, and of the cancellation at its nonce, if there is one:
 * one of the two has used it. False when that attempt is decided already.
 */
export async function decideAttempt(
  tx: Tx,
  transactionId: string,
  { attemptId, kind, ...at }: DecidedAttempt,
): Promise<boolean> {
  const decided = (outcome: string) => ({
    outcome,
    outcome_hash: at.transactionHash,
    block_number: at.blockNumber,
    block_hash: at.blockHash,
    block_at: at.blockTime,
    decided_at: tx.raw('now()'),
  });
  const changed = await tx('chain_attempts')
    .where({ id: attemptId, transaction_id: transactionId, kind: 'transaction', outcome: null })
    .update(decided(kind));
  if (changed !== 1) return false;
  await tx('chain_attempts')
    .where({ transaction_id: transactionId, kind: 'cancellation', outcome: null })
    .update(decided(kind === 'cancelled' ? 'executed' : 'cancelled'));
  return true;
}

/** True while something signed for a transaction could still reach the chain. */
export async function hasUndecidedAttempt(tx: Tx, transactionId: string): Promise<boolean> {
  const live = await tx('chain_attempts')
    .where({ transaction_id: transactionId, kind: 'transaction', outcome: null })
    .first('id');
  return live !== undefined;
}
