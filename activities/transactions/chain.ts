import type { TransactionChainContext, TransactionChainDeps } from './chainContext';
import { findLostTransactions } from './findLost';
import { type FollowTransaction, followTransaction } from './follow';
import { type PrepareTransaction, prepareTransaction } from './prepare';

/** The activities of the chain worker that execute transactions of accounts. They have no key. */
export function createTransactionChainActivities(deps: TransactionChainDeps) {
  const context: TransactionChainContext = { ...deps, lastSearches: new Map() };
  return {
    prepareTransaction: (input: PrepareTransaction) => prepareTransaction(context, input),
    followTransaction: context.withoutSlot((input: FollowTransaction, signal) =>
      followTransaction(context, input, signal),
    ),
    findLostTransactions: (input: { networkId: number }) => findLostTransactions(context, input),
  };
}

/** The activities of the chain worker that execute transactions, as workflows see them. */
export type TransactionChainActivities = ReturnType<typeof createTransactionChainActivities>;
