import { decideAttempt, isSigned } from '../../src/db/attemptOutcomes';
import { attemptsOfTransaction } from '../../src/db/attempts';
import { SYSTEM } from '../../src/db/audit';
import { findAuthorizationOutcome } from '../../src/db/authorizations';
import type { Tx } from '../../src/db/database';
import { commitUsage, releaseUsage } from '../../src/db/policyUsage';
import { type TransactionSnapshot, updateExecution } from '../../src/db/transactions';
import { auditUnknownExecution } from '../../src/db/unknownExecutions';
import type { ApprovalKey } from '../../src/domain/approvalRef';
import type {
  AttemptOutcome,
  ExecutionResult,
  TransactionRecord,
  TransactionState,
} from '../../src/domain/transaction';
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

function usedBy(unknownHash: string | undefined): string {
  if (unknownHash === undefined) return 'an empty call of the account';
  return `an execution of the account that nobody here has authorized (${unknownHash})`;
}

/** The end of a transaction that the chain has decided against: its nonce is used, so it can never be executed. */
function finalEnd(outcome: Exclude<AttemptOutcome, { kind: 'executed' }>): UnsuccessfulEnd {
  const { transactionHash } = outcome;
  const failure =
    outcome.kind === 'reverted'
      ? { code: 'reverted' as const, message: outcome.reason }
      : { code: 'timeout' as const, message: `cancelled: ${usedBy(outcome.unknownHash)} has used its nonce` };
  return { status: 'failed', failure: { ...failure, transactionHash }, final: true };
}

/** Records what has used the nonce of a transaction, where nobody here has authorized it. */
async function auditUnknown(
  tx: Tx,
  { id, organizationId, accountId, networkId }: TransactionRecord,
  outcome: AttemptOutcome,
): Promise<void> {
  if (outcome.kind !== 'cancelled' || outcome.unknownHash === undefined) return;
  const [attempt] = await attemptsOfTransaction(tx, id);
  if (!attempt) return;
  const { transactionHash, unknownHash: safeTxHash } = outcome;
  const { safeNonce } = attempt;
  const execution = { organizationId, accountId, networkId, safeNonce, safeTxHash, transactionHash };
  await auditUnknownExecution(tx, execution, SYSTEM);
}

/** Records what the chain has decided. Only what the signer has read itself ends a transaction without success. */
async function finishDecided(
  tx: Tx,
  seen: Seen<TransactionSnapshot>,
  outcome: AttemptOutcome,
): Promise<TransactionState> {
  const { id } = seen.record;
  if (outcome.kind !== 'executed' && (await findAuthorizationOutcome(tx, id)) !== outcome.kind) {
    return subject.state(seen);
  }
  await decideAttempt(tx, id, outcome);
  failpoint('worker.attemptDecided');
  if (outcome.kind !== 'executed') {
    await auditUnknown(tx, seen.record, outcome);
    return fail(tx, seen, finalEnd(outcome));
  }
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
