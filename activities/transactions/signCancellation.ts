import type { Address } from 'viem';
import { cancellation } from '../../src/chain/safeTransaction';
import { attemptsOfTransaction, insertAttempt } from '../../src/db/attempts';
import type { TransactionRef } from '../../src/domain/transaction';
import { failpoint } from '../../src/failpoints';
import { assertAccount } from '../signer/account';
import { boundTerms } from '../signer/boundedTerms';
import { type SignerContext, withNetwork } from '../signer/context';
import { refusalsAsValues, SignerRefusal, type SigningResult } from '../signer/refusal';
import { isJournaled } from './journaled';
import type { TransactionTerms } from './observation';
import { carryOn, newAttempt, signIntent } from './signedAttempts';
import { networkAndPolicyOf, readOnNetwork } from './signerRecord';

/** A signed transaction to cancel. */
export interface SignCancellation extends TransactionRef {
  readonly terms: TransactionTerms;
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
    const { networkId } = await networkAndPolicyOf(context.db, input);
    const terms = await boundTerms(context, networkId, input.terms);
    const intent = await withNetwork(context, networkId, async (tx) => {
      const { record } = await readOnNetwork(context, tx, input, networkId);
      const account = (await assertAccount(context, tx, record)).address as Address;
      const attempts = await attemptsOfTransaction(tx, record.id);
      const target = attempts.find(({ kind }) => kind === 'transaction');
      if (!target) throw new SignerRefusal('stale', `nothing of transaction ${record.id} is signed`);
      // Its nonce must not be that of another one.
      isJournaled(context, target);
      const earlier = attempts.find(({ kind }) => kind === 'cancellation');
      if (!earlier && !record.cancelling) {
        throw new SignerRefusal('stale', `nobody has requested the cancellation of transaction ${record.id}`);
      }
      if (!earlier && target.outcome !== null) {
        throw new SignerRefusal('stale', `the chain has decided transaction ${record.id} already`);
      }
      const { safeNonce, fromBlock } = target;
      const content = cancellation({ networkId, account, nonce: safeNonce });
      const attempt =
        earlier ??
        (await insertAttempt(tx, newAttempt(record, { kind: 'cancellation', content, fromBlock })));
      return carryOn(context, tx, { attempt, account }, terms);
    });
    failpoint('signer.cancellationStored');
    const { organizationId, transactionId } = input;
    if (!context.journal.isCancelled(transactionId)) {
      await context.journal.append({ type: 'cancellation', organizationId, transactionId });
    }
    return signIntent(context, intent);
  });
}
