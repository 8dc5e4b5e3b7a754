import type { Attempt } from '../../src/db/attempts';
import { findRejection, transactionRows } from '../../src/db/authorizations';
import type { Usage, UsageWindow } from '../../src/domain/policyEngine';
import type { SignerContext } from '../signer/context';
import { ROLLED_BACK, SignerHold } from '../signer/refusal';

/** A nonce of an account that is to be authorized. */
interface NewNonce {
  readonly transactionId: string;
  readonly accountId: string;
  readonly networkId: number;
  readonly safeNonce: bigint;
}

/** Throws SignerHold where the journal has the authorization of a transaction that the database has none of. */
export function assertNotAuthorized(
  { journal }: Pick<SignerContext, 'journal'>,
  transactionId: string,
): void {
  const known = journal.authorizationOf(transactionId);
  if (!known) return;
  throw new SignerHold(
    'rollback',
    `transaction ${transactionId} was authorized at nonce ${known.safeNonce} (${known.safeTxHash}, line ${known.line} of the journal), and the table authorizations has no row of it: ${ROLLED_BACK}`,
  );
}

/**
 * Throws SignerHold where the journal knows of authorizations that the database lacks: one of this transaction, or one
 * of this nonce of its account or of a later one.
 */
export function assertNotRolledBack({ journal }: Pick<SignerContext, 'journal'>, wanted: NewNonce): void {
  const { transactionId, accountId, networkId, safeNonce } = wanted;
  assertNotAuthorized({ journal }, transactionId);
  if (journal.isRejected(transactionId)) {
    throw new SignerHold(
      'rollback',
      `transaction ${transactionId} is rejected in the journal, and the table authorizations has no row of it: ${ROLLED_BACK}`,
    );
  }
  const highest = journal.highestNonce({ accountId, networkId });
  if (highest === undefined || highest < safeNonce) return;
  const taken = journal.takenAt({ accountId, networkId, safeNonce: highest });
  throw new SignerHold(
    'rollback',
    `nonce ${highest} of account ${accountId} on network ${networkId} is taken by ${taken?.transactionId ?? 'an unknown execution'} (${taken?.safeTxHash}, line ${taken?.line} of the journal), and the table authorizations ends before nonce ${safeNonce}: ${ROLLED_BACK}`,
  );
}

/** Throws SignerHold where the journal has more authorizations in a window than the table has. */
export function assertBudgetKept(
  { journal }: Pick<SignerContext, 'journal'>,
  window: UsageWindow,
  { amount, executions, at }: Usage,
): void {
  const known = journal.usageIn(window, at);
  if (known.amount <= amount && known.executions <= executions) return;
  throw new SignerHold(
    'rollback',
    `the journal has ${known.executions} authorizations of ${known.amount} in the window of policy ${window.policyId}, and the table authorizations has ${executions} of ${amount}: ${ROLLED_BACK}`,
  );
}

/**
 * Whether the journal has the authorization of a stored attempt. Throws SignerHold where it has another one for its
 * transaction or its nonce. An unknown execution at the nonce only says what became of it.
 */
export function isJournaled({ journal }: Pick<SignerContext, 'journal'>, attempt: Attempt): boolean {
  const { transactionId, accountId, networkId, safeTxHash, safeNonce } = attempt;
  const known = journal.authorizationOf(transactionId);
  const at = journal.takenAt(attempt);
  const taken = at?.transactionId === null ? undefined : at;
  const isSame = known
    ? known.safeTxHash === safeTxHash &&
      known.safeNonce === safeNonce &&
      known.accountId === accountId &&
      known.networkId === networkId
    : taken === undefined;
  if (isSame) return known !== undefined;
  const other = known ?? taken;
  throw new SignerHold(
    'rollback',
    `chain_attempts has ${safeTxHash} of transaction ${transactionId} at nonce ${safeNonce} of account ${accountId} on network ${networkId}, and line ${other?.line} of the journal has ${other?.safeTxHash}: ${ROLLED_BACK}`,
  );
}

/** Records in the journal that a transaction is rejected, with its record, where it is; once. */
export async function journalRejection(
  { db, journal }: Pick<SignerContext, 'db' | 'journal'>,
  transactionId: string,
): Promise<void> {
  if (journal.isRejected(transactionId)) return;
  const usage = await findRejection(db, transactionId);
  if (!usage) return;
  const rows = await transactionRows(db, transactionId);
  await journal.append({ type: 'rejection', ...usage, amount: String(usage.amount), rows });
}
