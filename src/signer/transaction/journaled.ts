import type { Address, Hex } from 'viem';
import { type SafeTransaction, safeTransactionHash } from '../../chain/safeTransaction';
import type { Attempt } from '../../db/attempts';
import type { Tx } from '../../db/database';
import { requireRow } from '../../db/rows';
import type { StoredTransaction } from '../../db/storedTransactions';
import { max } from '../../domain/bigint';
import { type PolicyDefinition, tokenOfPolicy } from '../../domain/policy';
import type { Usage, UsageWindow } from '../../domain/policyEngine';
import { assetAmount } from '../../domain/policyText';
import { type RecordedSpending, usageOf } from '../../transactions/policy';
import type { RejectionEntry } from '../journal/entries';
import type { IndexedAuthorization } from '../journal/journalIndex';
import { ROLLED_BACK, TemporaryRefusal } from '../refusal';
import type { SignerContext } from '../signerContext';
import { readJournaledRecord } from '../store/journaledRecords';

/** A nonce of an account that is to be authorized. */
interface NewNonce {
  readonly transactionId: string;
  readonly accountId: string;
  readonly networkId: number;
  readonly safeNonce: bigint;
}

/** Throws TemporaryRefusal where the journal has the authorization of a transaction that the database has none of. */
export function assertNotAuthorized(
  { journal, pending }: Pick<SignerContext, 'journal' | 'pending'>,
  transactionId: string,
): void {
  const known = journal.authorizationOf(transactionId);
  if (!known && !pending.has(transactionId)) return;
  if (!known) {
    throw new TemporaryRefusal(
      'undecided',
      `transaction ${transactionId} is being authorized at this moment`,
    );
  }
  throw new TemporaryRefusal(
    'rollback',
    `transaction ${transactionId} was authorized at nonce ${known.safeNonce} (${known.safeTxHash}, line ${known.line} of the journal), and the table authorizations has no row of it: ${ROLLED_BACK}`,
  );
}

/**
 * Throws TemporaryRefusal where the journal knows of authorizations that the database lacks: one of this transaction, or one
 * of this nonce of its account or of a later one.
 */
export function assertNotRolledBack(
  { journal, pending }: Pick<SignerContext, 'journal' | 'pending'>,
  wanted: NewNonce,
): void {
  const { transactionId, accountId, networkId, safeNonce } = wanted;
  assertNotAuthorized({ journal, pending }, transactionId);
  if (journal.isRejected(transactionId)) {
    throw new TemporaryRefusal(
      'rollback',
      `transaction ${transactionId} is rejected in the journal, and the table authorizations has no row of it: ${ROLLED_BACK}`,
    );
  }
  const highest = journal.highestNonce({ accountId, networkId });
  if (highest === undefined || highest < safeNonce) return;
  const taken = journal.takenAt({ accountId, networkId, safeNonce: highest });
  throw new TemporaryRefusal(
    'rollback',
    `nonce ${highest} of account ${accountId} on network ${networkId} is taken by ${taken?.transactionId ?? (taken?.isUpkeep ? "the admins' Safe" : 'an unknown execution')} (${taken?.safeTxHash}, line ${taken?.line} of the journal), and the table authorizations ends before nonce ${safeNonce}: ${ROLLED_BACK}`,
  );
}

/** The journal counts more in a window than the database: one has outcomes that the other lacks, or was rolled back. */
export class BudgetBehind extends TemporaryRefusal {}

/**
 * Throws BudgetBehind where the journal has more authorizations in a window, at the signer's time, than the table has.
 * `except` leaves one transaction out.
 */
export function assertBudgetKept(
  { journal, pending }: Pick<SignerContext, 'journal' | 'pending'>,
  window: UsageWindow,
  { amount, executions }: Usage,
  {
    policy,
    at,
    except,
  }: { readonly policy: PolicyDefinition; readonly at: Date; readonly except?: string | undefined },
): void {
  const journaled = journal.usageIn(window, at, except);
  const coming = pending.usageIn(window, except);
  const known = {
    amount: journaled.amount + coming.amount,
    executions: journaled.executions + coming.executions,
  };
  if (known.amount <= amount && known.executions <= executions) return;
  const token = window.asset && tokenOfPolicy(policy, window.asset.networkId, window.asset.tokenAddress);
  // Amounts of unlike tokens have no sum.
  const of = (sum: bigint) => (token ? ` of ${assetAmount(String(sum), token)}` : '');
  throw new BudgetBehind(
    'rollback',
    `the journal has ${known.executions} authorizations${of(known.amount)} in the window of policy ${window.policyId}, and the table authorizations has ${executions}${of(amount)}: ${ROLLED_BACK}`,
  );
}

/** The call of a stored attempt of an account. */
export function contentOfAttempt(attempt: Attempt, account: Address): SafeTransaction {
  return {
    networkId: attempt.networkId,
    account,
    to: attempt.to as Address,
    value: attempt.value,
    data: attempt.data as Hex,
    safeTxGas: attempt.safeTxGas,
    nonce: attempt.safeNonce,
  };
}

/**
 * The authorization of a stored transaction attempt by the journal; undefined where a crash came before that. Throws
 * TemporaryRefusal where the row is not what was authorized, by the hash of what it contains, or where something else has taken
 * its nonce. An unknown execution at the nonce only says what became of it.
 */
export function authorizationOf(
  { journal }: Pick<SignerContext, 'journal'>,
  attempt: Attempt,
  account: Address,
): IndexedAuthorization | undefined {
  const { id, organizationId, transactionId, accountId, networkId, safeNonce } = attempt;
  const hash = hashOf(attempt, account);
  const known = journal.authorizationOf(transactionId);
  const at = journal.takenAt(attempt);
  const taken =
    at === undefined || (at.transactionId === null && !at.isUpkeep) || at.transactionId === transactionId
      ? undefined
      : at;
  const isSame = known
    ? known.safeTxHash === hash &&
      known.safeNonce === safeNonce &&
      known.accountId === accountId &&
      known.networkId === networkId &&
      known.organizationId === organizationId
    : taken === undefined;
  if (isSame && attempt.safeTxHash === hash) return known;
  const other = known ?? taken;
  throw new TemporaryRefusal(
    'rollback',
    `chain_attempts ${id} has ${attempt.safeTxHash} (${hash} by its content) of transaction ${transactionId} at nonce ${safeNonce} of account ${accountId} on network ${networkId}, and ${other ? `line ${other.line} of the journal has ${other.safeTxHash}` : 'the journal has nothing there'}: ${ROLLED_BACK}`,
  );
}

/** The hash of the content of a row; undefined for content that cannot be hashed. */
function hashOf(attempt: Attempt, account: Address): Hex | undefined {
  try {
    return safeTransactionHash(contentOfAttempt(attempt, account));
  } catch {
    return undefined;
  }
}

/**
 * Throws TemporaryRefusal unless a nonce of an account is the next one by the journal and by what is pending here: what only the
 * database has says nothing about what was signed.
 */
export function assertNextNonce(
  { journal, pending }: Pick<SignerContext, 'journal' | 'pending'>,
  { transactionId, accountId, networkId, safeNonce }: NewNonce,
): void {
  const journaled = journal.highestNonce({ accountId, networkId }) ?? -1n;
  const next = max(journaled, pending.highestNonce({ accountId, networkId })) + 1n;
  if (safeNonce <= next) return;
  throw new TemporaryRefusal(
    'unsigned',
    `transaction ${transactionId} would get nonce ${safeNonce} of account ${accountId} on network ${networkId}, and the journal has nothing at the nonces from ${next} on: the transactions at those go on first`,
  );
}

/** What the journal keeps of a transaction that is rejected. */
type Rejected = RecordedSpending &
  Pick<StoredTransaction, 'replaces'> & {
    /** Null where nothing has verified it. */
    readonly expiresAt: Date | null;
  };

/**
 * The rejection of a transaction as the journal keeps it, from memory; none where it has it. Call it in the database
 * transaction that stores it: after the commit nothing is read.
 */
export async function rejectionEntries(
  { journal }: Pick<SignerContext, 'journal'>,
  tx: Tx,
  record: Rejected,
): Promise<readonly RejectionEntry[]> {
  if (journal.isRejected(record.id)) return [];
  const usage = usageOf(record);
  const kept = requireRow(await readJournaledRecord(tx, record.id));
  const { replaces } = record;
  const expiresAt = record.expiresAt?.toISOString() ?? null;
  return [{ type: 'rejection', ...usage, amount: String(usage.amount), replaces, expiresAt, record: kept }];
}
