import type { Address } from 'viem';
import type { Attempt } from '../../db/attempts';
import type { Tx } from '../../db/database';
import type { JournaledRecord } from '../../domain/journaledRecord';
import { usageOf } from '../../transactions/policy';
import { type AuthorizationEntry, type RejectionEntry, signedPart } from '../journal/entries';
import { SignerRefusal, TemporaryRefusal } from '../refusal';
import type { SignerContext } from '../signerContext';
import type { NewAttempt } from '../store/signedAttempts';
import { assertTransactionEvidence, type Verified } from './evidence';
import { assertAttemptOf } from './intents';
import { assertNextNonce } from './journaled';
import { type NeededGas, requireGas } from './neededGas';
import type { SigningSnapshot } from './record';
import { evidenceOf } from './sealedTransaction';
import type { Votes } from './votes';

/**
 * The record of a transaction for the journal. Throws SignerRefusal unless the transaction is being executed; TemporaryRefusal
 * unless it is the record that was verified: a restore writes it back.
 */
function recordToKeep({ record, journaled: kept }: SigningSnapshot): JournaledRecord {
  if (kept?.approval.executionStatus !== 'processing') {
    throw new SignerRefusal('stale', `transaction ${record.id} is not being executed any more`);
  }
  const { approval, transaction } = kept;
  const isSame =
    approval.id === record.id &&
    approval.organizationId === record.organizationId &&
    approval.summary === record.summary &&
    transaction.id === record.id &&
    transaction.accountId === record.accountId &&
    transaction.networkId === record.networkId &&
    transaction.policyId === record.policyId &&
    transaction.initiatorId === record.initiator.id &&
    transaction.to === record.to &&
    transaction.calldata === record.calldata &&
    transaction.replaces === record.replaces &&
    transaction.value === String(record.value);
  if (isSame) return kept;
  throw new TemporaryRefusal(
    'rollback',
    `the rows of transaction ${record.id} differ from the record that was verified: the database was changed`,
  );
}

/**
 * The authorization of what is stored, as the journal keeps it. Throws SignerRefusal or TemporaryRefusal where the record in the
 * database is not the one that was verified, or not being executed.
 */
export function authorizationEntry(
  snapshot: SigningSnapshot,
  attempt: NewAttempt,
  { account, votes, authorizedAt }: { account: Address; votes: Votes; authorizedAt: Date },
): AuthorizationEntry {
  const { record } = snapshot;
  const kept = recordToKeep(snapshot);
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
    record: kept,
  };
}

/**
 * Throws SignerRefusal or TemporaryRefusal unless a stored attempt that the journal lacks may be taken over: a crash came before
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
  throw new TemporaryRefusal(
    'simulation',
    `chain_attempts ${attempt.id} has ${attempt.safeTxGas} gas for transaction ${record.id}, which needs ${leastGas}: cancel it if this remains`,
  );
}
