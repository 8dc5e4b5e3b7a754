import { decideAttempt, hasUndecidedAttempt } from '../../src/db/attemptOutcomes';
import type { Tx } from '../../src/db/database';
import { commitUsage, releaseUsage } from '../../src/db/policyUsage';
import { type TransactionSnapshot, updateExecution } from '../../src/db/transactions';
import type { ApprovalKey } from '../../src/domain/approvalRef';
import type { AttemptOutcome, ExecutionResult, TransactionState } from '../../src/domain/transaction';
import { failpoint } from '../../src/failpoints';
import { completeApproval, failApproval } from '../approvals/finish';
import { lockOrRefuse } from '../approvals/read';
import type { ApprovalDeps, Seen } from '../approvals/subject';
import { executableTransaction as subject } from './subject';

type Unsuccessful = Extract<ExecutionResult, { status: 'failed' | 'blocked' }>;

/** Releases the budget and parks the transaction. */
async function fail(
  tx: Tx,
  seen: Seen<TransactionSnapshot>,
  { status, failure, awaitsRelayerWei }: Unsuccessful,
): Promise<TransactionState> {
  await releaseUsage(tx, seen.record.id);
  failpoint('worker.usageReleased');
  await updateExecution(tx, seen.record, {
    awaitsRelayerWei: awaitsRelayerWei === undefined ? null : BigInt(awaitsRelayerWei),
    cancelling: false,
  });
  return failApproval(tx, subject, seen, { status, failure });
}

function failureOf(outcome: Exclude<AttemptOutcome, { kind: 'executed' }>): Unsuccessful {
  const { transactionHash } = outcome;
  const message = 'cancelled: an empty call of the account has used its nonce, nothing was moved';
  return outcome.kind === 'cancelled'
    ? { status: 'failed', failure: { code: 'timeout', message, transactionHash } }
    : { status: 'failed', failure: { code: 'reverted', message: outcome.reason, transactionHash } };
}

/**
 * Ends an execution: its attempt, its budget and its record together. An attempt that can still be
 * included keeps the transaction `processing`. Idempotent.
 */
export async function finishTransaction(
  { db }: Pick<ApprovalDeps, 'db'>,
  { organizationId, id, result }: ApprovalKey & { readonly result: ExecutionResult },
): Promise<TransactionState> {
  return db.transaction(async (tx) => {
    const seen = await lockOrRefuse(tx, subject, { organizationId, id });
    if (seen.record.executionStatus !== 'processing') return subject.state(seen);
    if (result.status !== 'decided') {
      return (await hasUndecidedAttempt(tx, id)) ? subject.state(seen) : fail(tx, seen, result);
    }
    const { outcome } = result;
    if (!(await decideAttempt(tx, id, outcome))) return subject.state(seen);
    failpoint('worker.attemptDecided');
    if (outcome.kind !== 'executed') return fail(tx, seen, failureOf(outcome));
    await commitUsage(tx, id, new Date(outcome.blockTime));
    failpoint('worker.usageCommitted');
    const { transactionHash } = outcome;
    const blockNumber = Number(outcome.blockNumber);
    return completeApproval(tx, subject, seen, {
      result: { resolution: 'approved', transactionHash, blockNumber },
      audit: { transactionHash, blockNumber },
    });
  });
}
