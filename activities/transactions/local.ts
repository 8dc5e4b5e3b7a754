import type { ObserveNewContext } from './chainContext';
import { type PrepareNewTransaction, prepareNewTransaction } from './prepareNew';

/** The local activities of a transaction's execution, run by the worker of its workflow. They have no key. */
export function createTransactionLocalActivities(deps: ObserveNewContext) {
  const context = { ...deps, backoffUntil: new Map<number, number>() };
  return {
    prepareNewTransaction: (input: PrepareNewTransaction) => prepareNewTransaction(context, input),
  };
}

/** The local activities of a transaction's execution, as workflows see them. */
export type TransactionLocalActivities = ReturnType<typeof createTransactionLocalActivities>;
