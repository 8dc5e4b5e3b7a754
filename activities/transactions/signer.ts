import type { TransactionRef } from '../../src/domain/transaction';
import type { SignerContext } from '../signer/context';
import { confirmOutcome } from './confirmOutcome';
import type { TransactionTerms } from './observation';
import { recordRejection } from './recordRejection';
import { type SignCancellation, signCancellation } from './signCancellation';
import { signTransaction } from './signTransaction';

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
