import { auditUnknownExecution } from '../../src/approvals/unknownExecution';
import { type ExpectedVersion, undefinedOnConflict } from '../../src/db/approvalLocks';
import { decideAttempt, isSigned } from '../../src/db/attemptOutcomes';
import type { Db, Tx } from '../../src/db/database';
import { commitUsage, releaseUsage } from '../../src/db/reservedUsage';
import type { Statement } from '../../src/db/rows';
import type { TransactionSnapshot } from '../../src/db/storedTransactions';
import { updateExecution } from '../../src/db/transactions';
import { findUnknownExecution, type UnknownExecution } from '../../src/db/unknownExecutions';
import { SYSTEM } from '../../src/domain/actor';
import type { ApprovalKey } from '../../src/domain/approvalRef';
import type { AttemptOutcome } from '../../src/domain/transaction';
import type { ExecutionResult, TransactionState } from '../../src/domain/transactionState';
import { failpoint } from '../../src/failpoints';
import type { ApprovalDeps, Seen } from '../approvals/executableSubject';
import { completeApproval, failApproval, type UnsuccessfulEnd } from '../approvals/finish';
import { approvalNotFound, lockOrRefuse } from '../approvals/read';
import { retryOnConflict } from '../retryOnConflict';
import { executableTransaction as subject } from './executableTransaction';

/** Releases the budget and parks the transaction, or closes it. */
async function fail(
  tx: Tx,
  seen: Seen<TransactionSnapshot>,
  { awaitsRelayerWei, ...end }: UnsuccessfulEnd & { readonly awaitsRelayerWei?: string },
  batch: readonly Statement[] = [],
): Promise<TransactionState> {
  const record = await updateExecution(tx, seen.record, {
    awaitsRelayerWei: awaitsRelayerWei === undefined ? null : BigInt(awaitsRelayerWei),
    cancelling: false,
  });
  failpoint('worker.executionCleared');
  const released = releaseUsage(tx, seen.record.id);
  return failApproval(tx, subject, { ...seen, record }, end, [released, ...batch]);
}

function usedBy(unknown: UnknownExecution | undefined): string {
  if (!unknown) return 'an empty call of the account';
  return `an execution of the account that nobody here has authorized (${unknown.safeTxHash})`;
}

type Executed = Extract<AttemptOutcome, { kind: 'executed' }>;
/** What the chain has decided against a transaction. */
type Against = Exclude<AttemptOutcome, Executed>;

/** The end of a transaction that the chain has decided against: its nonce is used, so it can never be executed. */
function finalEnd(outcome: Against, unknown: UnknownExecution | undefined): UnsuccessfulEnd {
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

/**
 * Records that the chain has decided against a transaction, where the signer has read the same itself. Whose execution it
 * was, the signer has recorded.
 */
async function finishAgainst(
  tx: Tx,
  seen: Seen<TransactionSnapshot>,
  outcome: Against,
): Promise<TransactionState> {
  const { id, signerOutcome } = seen.record;
  if (signerOutcome !== outcome.kind || isFromBeforeReopening(seen.record, outcome))
    return subject.state(seen);
  const unknown = outcome.kind === 'cancelled' ? await findUnknownExecution(tx, id) : undefined;
  failpoint('worker.outcomeLocked');
  if (unknown) await auditUnknownExecution(tx, unknown, SYSTEM);
  const decided = decideAttempt(tx, id, { ...outcome, isUnknown: unknown !== undefined });
  return fail(tx, withOutcome(seen, outcome), finalEnd(outcome, unknown), [decided]);
}

/** Completes a transaction that the chain has executed. */
function complete(
  db: Db | Tx,
  seen: Seen<TransactionSnapshot>,
  outcome: Executed,
  expected?: ExpectedVersion,
): Promise<TransactionState> {
  const { id } = seen.record;
  const { transactionHash, note, blockTime: executedAt, fee } = outcome;
  const blockNumber = Number(outcome.blockNumber);
  const paid = fee === undefined ? {} : { fee };
  const end = {
    result: { resolution: 'approved', transactionHash, blockNumber, executedAt, ...paid },
    audit: { transactionHash, blockNumber, ...(note === undefined ? {} : { note }) },
    ...(note === undefined ? {} : { note: { code: 'noTransferLogged' as const, message: note } }),
  };
  const batch = [decideAttempt(db, id, outcome), commitUsage(db, id, new Date(outcome.blockTime))];
  return completeApproval(db, subject, withOutcome(seen, outcome), end, {
    batch,
    ...(expected ? { expected } : {}),
  });
}

/** Whether the transaction was reopened after an outcome was read, which a delayed workflow delivers late. */
function isFromBeforeReopening(
  { reopenings }: TransactionSnapshot['record'],
  outcome: AttemptOutcome,
): boolean {
  return (outcome.reopenings ?? 0) !== reopenings;
}

/** Whether an execution was read before a reopening, or the signer has read that something else became of it. */
function isSuperseded(record: TransactionSnapshot['record'], outcome: Executed): boolean {
  const { signerOutcome } = record;
  return isFromBeforeReopening(record, outcome) || (signerOutcome !== null && signerOutcome !== 'executed');
}

/**
 * Records that the chain has executed a transaction, in one statement that writes nothing where the record has changed
 * since it was read; undefined then.
 */
async function finishExecuted(
  db: Db,
  key: ApprovalKey,
  outcome: Executed,
): Promise<TransactionState | undefined> {
  const seen = await subject.read(db, key);
  if (!seen) throw new Error(approvalNotFound('transaction', key.id).message);
  const { record } = seen;
  if (record.executionStatus !== 'processing' || isSuperseded(record, outcome)) return subject.state(seen);
  failpoint('worker.outcomeRead');
  if (!record.cancelling) return undefinedOnConflict(() => complete(db, seen, outcome, seen));
  // A cancellation may be stored in this moment: under the lock its row is seen, and decided too.
  return whileProcessing(db, key, async (tx, locked) =>
    isSuperseded(locked.record, outcome) ? subject.state(locked) : complete(tx, locked, outcome),
  );
}

/** Changes a transaction that is being executed, with it locked; returns the state of any other. */
function whileProcessing(
  db: Db,
  key: ApprovalKey,
  change: (tx: Tx, seen: Seen<TransactionSnapshot>) => Promise<TransactionState>,
): Promise<TransactionState> {
  return db.transaction(async (tx) => {
    const seen = await lockOrRefuse(tx, subject, key);
    return seen.record.executionStatus === 'processing' ? change(tx, seen) : subject.state(seen);
  });
}

/**
 * Ends an execution: its attempt, its budget and its record together. Once something is signed, only the chain ends it:
 * until then the transaction stays `processing`. Idempotent.
 */
export async function finishTransaction(
  { db }: Pick<ApprovalDeps, 'db'>,
  { result, ...key }: ApprovalKey & { readonly result: ExecutionResult },
): Promise<TransactionState> {
  if (result.status !== 'decided') {
    return whileProcessing(db, key, async (tx, seen) =>
      (await isSigned(tx, key.id)) ? subject.state(seen) : fail(tx, seen, result),
    );
  }
  const { outcome } = result;
  if (outcome.kind !== 'executed') {
    return whileProcessing(db, key, (tx, seen) => finishAgainst(tx, seen, outcome));
  }
  return retryOnConflict(() => finishExecuted(db, key, outcome));
}
