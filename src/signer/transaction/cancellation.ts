import type { Address } from 'viem';
import { type Attempt, attemptsOfTransaction } from '../../db/attempts';
import type { StoredTransaction } from '../../db/storedTransactions';
import type { TransactionTerms } from '../../domain/terms';
import type { TransactionRef } from '../../domain/transaction';
import { failpoint } from '../../failpoints';
import { assertAccount } from '../account';
import { assertIds } from '../input';
import type { IndexedAuthorization } from '../journal/journalIndex';
import { refusalsAsValues, SignerRefusal, type SigningResult, TemporaryRefusal } from '../refusal';
import { type SignerContext, withNetwork } from '../signerContext';
import { assertAttemptOf, signIntent, storeCancellation, type Target } from './intents';
import { assertNextNonce, authorizationOf } from './journaled';
import { networkAndPolicyOf, readOnNetwork } from './record';
import { boundTransactionTerms } from './transactionTerms';

/** A signed transaction to cancel. */
export interface SignCancellation extends TransactionRef {
  readonly terms: TransactionTerms;
}

/**
 * What of a transaction has the nonce that its cancellation uses: by the journal; or, where a crash came before that, the
 * next one, which nothing else takes then. Throws SignerRefusal or TemporaryRefusal.
 */
export function targetOf(
  context: SignerContext,
  record: StoredTransaction,
  { account, attempts }: { account: Address; attempts: readonly Attempt[] },
): Target & { readonly attempt: Attempt; readonly known: IndexedAuthorization | undefined } {
  const attempt = attempts.find(({ kind }) => kind === 'transaction');
  if (!attempt) throw new SignerRefusal('stale', `nothing of transaction ${record.id} is signed`);
  assertAttemptOf(record, attempt);
  const known = authorizationOf(context, attempt, account);
  const cancelled = context.journal.cancellationOf(record.id);
  const of = { account, attempts, attempt, known };
  if (known) return { ...of, safeNonce: known.safeNonce, fromBlock: known.fromBlock };
  if (!cancelled) {
    if (attempt.signature !== null) {
      throw new TemporaryRefusal(
        'rollback',
        `chain_attempts ${attempt.id} of transaction ${record.id} has a signature, and the journal has nothing of it: it is signed only after that. The journal is not the last one: see "The journal is lost" in docs/runbook.md`,
      );
    }
    assertNextNonce(context, attempt);
  }
  const safeNonce = cancelled ? BigInt(cancelled.safeNonce) : attempt.safeNonce;
  return { ...of, safeNonce, fromBlock: attempt.fromBlock };
}

/**
 * Signs the empty call that uses the nonce of a signed transaction, and an envelope for it: at the relayer
 * nonce of the one in flight, where the terms replace it. The one that is mined decides.
 */
export async function signCancellation(
  context: SignerContext,
  input: SignCancellation,
): Promise<SigningResult> {
  return refusalsAsValues(context, async () => {
    assertIds(input, 'organizationId', 'transactionId');
    const { networkId } = await networkAndPolicyOf(context.db, input);
    const terms = await boundTransactionTerms(context, networkId, input.terms);
    const { intent, entry } = await withNetwork(context, networkId, async (tx) => {
      const { record } = await readOnNetwork(context, tx, input, networkId);
      const account = (await assertAccount(context, tx, record)).address as Address;
      const attempts = await attemptsOfTransaction(tx, record.id);
      const target = targetOf(context, record, { account, attempts });
      const isCancelled =
        context.journal.cancellationOf(record.id) !== undefined ||
        attempts.some(({ kind }) => kind === 'cancellation');
      if (!isCancelled && !record.cancelling) {
        throw new SignerRefusal('stale', `nobody has requested the cancellation of transaction ${record.id}`);
      }
      if (!isCancelled && target.attempt.outcome !== null) {
        throw new SignerRefusal('stale', `the chain has decided transaction ${record.id} already`);
      }
      return storeCancellation(context, tx, record, target, { terms });
    });
    failpoint('signer.cancellationStored');
    return signIntent(context, intent, [entry]);
  });
}
