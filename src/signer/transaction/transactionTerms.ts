import type { TransactionTerms } from '../../domain/terms';
import { amount, type BoundedTerms, boundTerms, envelopeTerms, integer } from '../boundedTerms';
import type { SignerContext } from '../signerContext';

const transactionTerms = envelopeTerms.extend({
  safeTxGas: amount,
  accountNonce: integer,
  fromBlock: integer,
});

/**
 * Bounds the terms of a transaction of an account. What is signed now is in no block up to the head that the signer reads
 * itself, so that its execution is searched from there on. Throws SignerRefusal or ChainUnavailable.
 */
export async function boundTransactionTerms(
  context: SignerContext,
  networkId: number,
  terms: TransactionTerms,
): Promise<BoundedTerms<TransactionTerms>> {
  const { most, ...asked } = await boundTerms(context, networkId, terms, transactionTerms);
  return { ...asked, fromBlock: String(most.head ?? asked.fromBlock), most };
}
