import type { Address } from 'viem';
import { evidenceOf } from '../../approvals/sealedTransaction';
import type { Attempt, NewAttempt } from '../../db/attempts';
import type { Tx } from '../../db/database';
import type { StoredTransaction, TransactionSnapshot } from '../../db/transactions';
import { usageOf } from '../../transactions/policy';
import type { SignerContext } from '../context';
import { type AuthorizationEntry, type RejectionEntry, signedPart } from '../journal/entries';
import { SignerHold, SignerRefusal } from '../refusal';
import { assertAttemptOf } from './envelopes';
import { assertTransactionEvidence, type Verified } from './evidence';
import { assertNextNonce } from './journaled';
import { type NeededGas, requireGas } from './neededGas';
import type { SigningSnapshot } from './record';
import type { Votes } from './votes';

/**
 * Throws SignerRefusal unless the rows of a transaction, of `transactionRows`, say that it is being executed; SignerHold
 * unless they are of the record that was verified: a restore writes them back.
 */
export function assertRows(record: StoredTransaction, rows: string): void {
  const { approvals, transactions } = JSON.parse(rows);
  const [approval = {}] = approvals;
  const [row = {}] = transactions;
  if (approval.execution_status !== 'processing') {
    throw new SignerRefusal('stale', `transaction ${record.id} is not being executed any more`);
  }
  const isSame =
    approval.id === record.id &&
    approval.organization_id === record.organizationId &&
    approval.summary === record.summary &&
    row.id === record.id &&
    row.account_id === record.accountId &&
    row.network_id === record.networkId &&
    row.policy_id === record.policyId &&
    row.initiator_id === record.initiator.id &&
    row.to_address === record.to &&
    row.calldata === record.calldata &&
    row.replaces === record.replaces &&
    // JSON.parse loses digits of a large value.
    Number(row.value) === Number(record.value);
  if (isSame) return;
  throw new SignerHold(
    'rollback',
    `the rows of transaction ${record.id} differ from the record that was verified: the database was changed`,
  );
}

/** The authorization of what is stored, as the journal keeps it; `rows`: of `transactionRows`. */
export function authorizationEntry(
  snapshot: TransactionSnapshot,
  attempt: NewAttempt,
  {
    account,
    votes,
    authorizedAt,
    rows,
  }: { account: Address; votes: Votes; authorizedAt: Date; rows: string },
): AuthorizationEntry {
  const { record } = snapshot;
  const { amount, policyId, initiatorId, tokenAddress, destination } = usageOf(record);
  return {
    type: 'authorization',
    organizationId: record.organizationId,
    transactionId: record.id,
    accountId: attempt.accountId,
    networkId: attempt.networkId,
    ...signedPart(attempt),
    account,
    policyId,
    initiatorId,
    tokenAddress,
    amount: String(amount),
    destination,
    replaces: record.replaces,
    authorizedAt: authorizedAt.toISOString(),
    evidence: evidenceOf(snapshot, votes),
    rows,
  };
}

/**
 * Throws SignerRefusal or SignerHold unless a stored attempt that the journal lacks may be taken over: a crash came before
 * its entry, so that nothing of it is signed; it is the call that was asked for, at the next nonce, with the gas that it needs,
 * and all of its evidence is still valid. Returns what it replaces without that ever being authorized.
 */
export async function assertTakenOver(
  context: SignerContext,
  tx: Tx,
  {
    snapshot,
    attempt,
    needed,
    ...verified
  }: {
    snapshot: SigningSnapshot;
    attempt: Attempt;
    needed: NeededGas;
  } & Verified,
): Promise<readonly RejectionEntry[]> {
  const { record } = snapshot;
  assertAttemptOf(record, attempt);
  assertNextNonce(context, attempt);
  // Its own authorization is stored, and counts.
  const rejected = await assertTransactionEvidence(context, tx, snapshot, { ...verified, except: record.id });
  const leastGas = requireGas(needed);
  if (attempt.safeTxGas >= leastGas) return rejected;
  throw new SignerHold(
    'simulation',
    `chain_attempts ${attempt.id} has ${attempt.safeTxGas} gas for transaction ${record.id}, which needs ${leastGas}: cancel it if this remains`,
  );
}
