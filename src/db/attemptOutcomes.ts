import type { Attempt, AttemptResult } from './attempts';
import type { Db, Tx } from './database';
import type { Statement } from './rows';

/** The outcome of an attempt, and its block. */
interface AttemptDecision {
  readonly kind: AttemptResult;
  readonly transactionHash: string;
  readonly blockNumber: string;
  readonly blockHash: string;
  /** ISO 8601. */
  readonly blockTime: string;
  /** Cancelled by an execution that nobody here has authorized, not by its cancellation. */
  readonly isUnknown?: boolean;
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

/** The outcome of the cancellation at the same nonce: one of the two has used it, or neither. */
function ofCancellation({ kind, isUnknown = false }: AttemptDecision): AttemptResult {
  return kind === 'cancelled' && !isUnknown ? 'executed' : 'cancelled';
}

/** Records the outcome of what was signed for a transaction, and of the cancellation at its nonce, if there is one. */
export function decideAttempt(tx: Db | Tx, transactionId: string, decision: AttemptDecision): Statement {
  const outcome = tx.raw(`CASE kind WHEN 'cancellation' THEN ? ELSE ? END`, [
    ofCancellation(decision),
    decision.kind,
  ]);
  return tx('chain_attempts')
    .where({ transaction_id: transactionId })
    .update({ ...columns(decision.kind, decision), outcome, decided_at: tx.raw('now()') });
}

/**
 * Records that the nonce of a decided attempt was used in another block than before, or with another outcome. False where its
 * outcome has changed since it was read.
 */
export async function moveAttempt(
  tx: Tx,
  { id, transactionId, outcome: before, blockHash }: Attempt,
  decision: AttemptDecision,
): Promise<boolean> {
  const moved = await tx('chain_attempts')
    .where({ id, outcome: before, block_hash: blockHash })
    .update(columns(decision.kind, decision));
  if (moved === 0) return false;
  await tx('chain_attempts')
    .where({ transaction_id: transactionId, kind: 'cancellation' })
    .update({
      ...columns(ofCancellation(decision), decision),
      decided_at: tx.raw('coalesce(decided_at, now())'),
    });
  return true;
}

/** The hash of the block that decided a transaction; null while it is undecided. */
export async function decidingBlockHash(tx: Tx, transactionId: string): Promise<string | null> {
  const of = { transaction_id: transactionId, kind: 'transaction' } as const;
  return (await tx('chain_attempts').where(of).first('block_hash'))?.block_hash ?? null;
}

/** Counts that a transaction is reopened. */
export async function countReopening(tx: Tx, transactionId: string): Promise<void> {
  await tx('transactions').where({ id: transactionId }).increment('reopenings');
}

/** Clears the outcomes of what was signed for a transaction and of its cancellation. */
export async function reopenAttempts(tx: Tx, transactionId: string): Promise<void> {
  await tx('chain_attempts').where({ transaction_id: transactionId }).update({
    outcome: null,
    outcome_hash: null,
    block_number: null,
    block_hash: null,
    block_at: null,
    decided_at: null,
    confirmations: 0,
  });
}

/** True once something of a transaction was signed: it can reach the chain, whatever is done. */
export async function isSigned(tx: Tx, transactionId: string): Promise<boolean> {
  return (await tx('chain_attempts').where({ transaction_id: transactionId }).first('id')) !== undefined;
}
