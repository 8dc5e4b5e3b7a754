import { decideAttempt, isSigned } from '../../src/db/attemptOutcomes';
import { SYSTEM } from '../../src/db/audit';
import type { Tx } from '../../src/db/database';
import { commitUsage, releaseUsage } from '../../src/db/policyUsage';
import { type TransactionSnapshot, updateExecution } from '../../src/db/transactions';
import {
  auditUnknownExecution,
  findUnknownExecution,
  type UnknownExecution,
} from '../../src/db/unknownExecutions';
import type { ApprovalKey } from '../../src/domain/approvalRef';
import type { AttemptOutcome, ExecutionResult, TransactionState } from '../../src/domain/transaction';
import { failpoint } from '../../src/failpoints';
import { completeApproval, failApproval, type UnsuccessfulEnd } from '../approvals/finish';
import { lockOrRefuse } from '../approvals/read';
import type { ApprovalDeps, Seen } from '../approvals/subject';
import { executableTransaction as subject } from './subject';

/** Releases the budget and parks the transaction, or closes it. */
async function fail(
  tx: Tx,
  seen: Seen<TransactionSnapshot>,
  { awaitsRelayerWei, ...end }: UnsuccessfulEnd & { readonly awaitsRelayerWei?: string },
): Promise<TransactionState> {
  await releaseUsage(tx, seen.record.id);
  failpoint('worker.usageReleased');
  await updateExecution(tx, seen.record, {
    awaitsRelayerWei: awaitsRelayerWei === undefined ? null : BigInt(awaitsRelayerWei),
    cancelling: false,
  });
  return failApproval(tx, subject, seen, end);
}

function usedBy(unknown: UnknownExecution | undefined): string {
  if (!unknown) return 'an empty call of the account';
  return `an execution of the account that nobody here has authorized (${unknown.safeTxHash})`;
}

/** The end of a transaction that the chain has decided against: its nonce is used, so it can never be executed. */
function finalEnd(
  outcome: Exclude<AttemptOutcome, { kind: 'executed' }>,
  unknown: UnknownExecution | undefined,
): UnsuccessfulEnd {
  const { transactionHash } = outcome;
  const failure =
    outcome.kind === 'reverted'
      ? { code: 'reverted' as const, message: outcome.reason }
      : { code: 'timeout' as const, message: `cancelled: ${usedBy(unknown)} has used its nonce` };
  return { status: 'failed', failure: { ...failure, transactionHash }, final: true };
}

/** Records that the chain has decided against a transaction. Whose execution it was, the signer has recorded. */
async function finishAgainst(
  tx: Tx,
  seen: Seen<TransactionSnapshot>,
  outcome: Exclude<AttemptOutcome, { kind: 'executed' }>,
): Promise<TransactionState> {
  const { id } = seen.record;
  const unknown = outcome.kind === 'cancelled' ? await findUnknownExecution(tx, id) : undefined;
  await decideAttempt(tx, id, { ...outcome, isUnknown: unknown !== undefined });
  failpoint('worker.attemptDecided');
  if (unknown) await auditUnknownExecution(tx, unknown, SYSTEM);
  return fail(tx, seen, finalEnd(outcome, unknown));
}

/** Records what the chain has decided. Only what the signer has read itself ends a transaction without success. */
async function finishDecided(
  tx: Tx,
  seen: Seen<TransactionSnapshot>,
  outcome: AttemptOutcome,
): Promise<TransactionState> {
  const { id, signerOutcome } = seen.record;
  if (outcome.kind !== 'executed') {
    return signerOutcome === outcome.kind ? finishAgainst(tx, seen, outcome) : subject.state(seen);
  }
  if (signerOutcome !== null && signerOutcome !== 'executed') return subject.state(seen);
  await decideAttempt(tx, id, outcome);
  failpoint('worker.attemptDecided');
  await commitUsage(tx, id, new Date(outcome.blockTime));
  failpoint('worker.usageCommitted');
  const { transactionHash, note } = outcome;
  const blockNumber = Number(outcome.blockNumber);
  return completeApproval(tx, subject, seen, {
    result: { resolution: 'approved', transactionHash, blockNumber },
    audit: { transactionHash, blockNumber, ...(note === undefined ? {} : { note }) },
    ...(note === undefined ? {} : { note: { code: 'noTransferLogged', message: note } }),
  });
}

/**
 * Ends an execution: its attempt, its budget and its record together. Once something is signed, only the chain ends it:
 * until then the transaction stays `processing`. Idempotent.
 */
export async function finishTransaction(
  { db }: Pick<ApprovalDeps, 'db'>,
  { organizationId, id, result }: ApprovalKey & { readonly result: ExecutionResult },
): Promise<TransactionState> {
  return db.transaction(async (tx) => {
    const seen = await lockOrRefuse(tx, subject, { organizationId, id });
    if (seen.record.executionStatus !== 'processing') return subject.state(seen);
    if (result.status === 'decided') return finishDecided(tx, seen, result.outcome);
    return (await isSigned(tx, id)) ? subject.state(seen) : fail(tx, seen, result);
  });
}
