import type { TransactionTerms } from '../../domain/terms';
import type { TransactionRef } from '../../domain/transaction';
import type { SignerContext } from '../context';
import { type SignCancellation, signCancellation } from './cancellation';
import { confirmOutcome } from './confirmOutcome';
import { recordRejection } from './rejection';
import { signTransaction } from './sign';

/** The activities of the signer that sign for accounts. */
export function createTransactionSignerActivities(context: SignerContext) {
  return {
    signTransaction: (input: TransactionRef & { terms: TransactionTerms }) => signTransaction(context, input),
    confirmOutcome: (input: TransactionRef) => confirmOutcome(context, input),
    recordRejection: (input: TransactionRef) => recordRejection(context, input),
    signCancellation: (input: SignCancellation) => signCancellation(context, input),
  };
}

/** The activities of the signer that sign for accounts, as workflows see them. */
export type TransactionSignerActivities = ReturnType<typeof createTransactionSignerActivities>;
