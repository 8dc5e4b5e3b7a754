import { decideAttempt, isSigned } from '../../src/db/attemptOutcomes';
import { SYSTEM } from '../../src/db/audit';
import type { Tx } from '../../src/db/database';
import { commitUsage, releaseUsage } from '../../src/db/policyUsage';
import type { Statement } from '../../src/db/rows';
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
  along: readonly Statement[] = [],
): Promise<TransactionState> {
  const record = await updateExecution(tx, seen.record, {
    awaitsRelayerWei: awaitsRelayerWei === undefined ? null : BigInt(awaitsRelayerWei),
    cancelling: false,
  });
  failpoint('worker.executionCleared');
  const released = releaseUsage(tx, seen.record.id);
  return failApproval(tx, subject, { ...seen, record }, end, [released, ...along]);
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

/** The snapshot with the chain transaction that has decided it: it may be anyone's. */
function withOutcome(
  seen: Seen<TransactionSnapshot>,
  { transactionHash, blockTime }: AttemptOutcome,
): Seen<TransactionSnapshot> {
  const known = seen.record.chain ?? { submittedAt: new Date(blockTime), confirmations: 0 };
  return { ...seen, record: { ...seen.record, chain: { ...known, transactionHash } } };
}

/** Records that the chain has decided against a transaction. Whose execution it was, the signer has recorded. */
async function finishAgainst(
  tx: Tx,
  seen: Seen<TransactionSnapshot>,
  outcome: Exclude<AttemptOutcome, { kind: 'executed' }>,
): Promise<TransactionState> {
  const { id } = seen.record;
  const unknown = outcome.kind === 'cancelled' ? await findUnknownExecution(tx, id) : undefined;
  failpoint('worker.outcomeLocked');
  if (unknown) await auditUnknownExecution(tx, unknown, SYSTEM);
  const decided = decideAttempt(tx, id, { ...outcome, isUnknown: unknown !== undefined });
  return fail(tx, withOutcome(seen, outcome), finalEnd(outcome, unknown), [decided]);
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
  failpoint('worker.outcomeLocked');
  const { transactionHash, note } = outcome;
  const blockNumber = Number(outcome.blockNumber);
  const end = {
    result: { resolution: 'approved', transactionHash, blockNumber },
    audit: { transactionHash, blockNumber, ...(note === undefined ? {} : { note }) },
    ...(note === undefined ? {} : { note: { code: 'noTransferLogged' as const, message: note } }),
  };
  const committed = commitUsage(tx, id, new Date(outcome.blockTime));
  const along = [decideAttempt(tx, id, outcome), committed];
  return completeApproval(tx, subject, withOutcome(seen, outcome), end, along);
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
