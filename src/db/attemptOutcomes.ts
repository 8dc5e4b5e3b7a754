import type { Attempt, AttemptResult } from './attempts';
import type { Db, Tx } from './database';
import { moveUsage } from './policyUsage';

/** The outcome of an attempt, and its block. */
export interface AttemptDecision {
  readonly kind: AttemptResult;
  readonly transactionHash: string;
  readonly blockNumber: string;
  readonly blockHash: string;
  /** ISO 8601. */
  readonly blockTime: string;
}

function columns(
  outcome: AttemptResult,
  { transactionHash, blockNumber, blockHash, blockTime }: AttemptDecision,
) {
  return {
    outcome,
    outcome_hash: transactionHash,
    block_number: blockNumber,
    block_hash: blockHash,
    block_at: blockTime,
  };
}

/** The outcome of the cancellation at the same nonce: one of the two has used it. */
function ofCancellation(kind: AttemptResult): AttemptResult {
  return kind === 'cancelled' ? 'executed' : 'cancelled';
}

/**
 * Records the outcome of the undecided attempt of a transaction, and of the cancellation at its nonce, if there is one.
 * False when that attempt is decided already.
 */
export async function decideAttempt(
  tx: Tx,
  transactionId: string,
  { attemptId, ...decision }: AttemptDecision & { readonly attemptId: string },
): Promise<boolean> {
  const decided_at = tx.raw('now()');
  const changed = await tx('chain_attempts')
    .where({ id: BigInt(attemptId), transaction_id: transactionId, kind: 'transaction', outcome: null })
    .update({ ...columns(decision.kind, decision), decided_at });
  if (changed !== 1) return false;
  await tx('chain_attempts')
    .where({ transaction_id: transactionId, kind: 'cancellation', outcome: null })
    .update({ ...columns(ofCancellation(decision.kind), decision), decided_at });
  return true;
}

/**
 * Records that the nonce of a decided attempt was used in another block than before, or with another outcome. What was spent counts
 * by the time of that block.
 */
export async function moveOutcome(
  db: Db,
  { id, transactionId, safeNonce, outcome: before }: Attempt,
  decision: AttemptDecision,
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx('chain_attempts').where({ id }).whereNotNull('outcome').update(columns(decision.kind, decision));
    await tx('chain_attempts')
      .where({ transaction_id: transactionId, safe_nonce: safeNonce, kind: 'cancellation' })
      .update({
        ...columns(ofCancellation(decision.kind), decision),
        decided_at: tx.raw('coalesce(decided_at, now())'),
      });
    if (decision.kind === 'executed' && before === 'executed')
      await moveUsage(tx, transactionId, new Date(decision.blockTime));
  });
}

/** Clears the outcome of an attempt, and of the cancellation at its nonce. */
export async function clearOutcome(tx: Tx, transactionId: string, attemptId: string): Promise<void> {
  await tx('chain_attempts')
    .where({ transaction_id: transactionId })
    .where(
      'safe_nonce',
      tx('chain_attempts')
        .where({ id: BigInt(attemptId) })
        .select('safe_nonce'),
    )
    .update({
      outcome: null,
      outcome_hash: null,
      block_number: null,
      block_hash: null,
      block_at: null,
      decided_at: null,
      confirmations: 0,
    });
}

/** True while a signed attempt of a transaction may still be included. */
export async function hasUndecidedAttempt(tx: Tx, transactionId: string): Promise<boolean> {
  const live = await tx('chain_attempts')
    .where({ transaction_id: transactionId, kind: 'transaction', outcome: null })
    .first('id');
  return live !== undefined;
}
