import type { ObserveNewContext } from './chainContext';
import { type PrepareNewContext, type PrepareNewTransaction, prepareNewTransaction } from './prepareNew';

/** A network that takes longer would hold slots that other workflows need. */
const TIMEOUT_MS = 500;

/** The local activities of a transaction's execution, run by the worker of its workflow. They have no key. */
export function createTransactionLocalActivities(deps: ObserveNewContext, timeoutMs = TIMEOUT_MS) {
  const context: PrepareNewContext = { ...deps, backoffUntil: new Map(), observing: 0, timeoutMs };
  return {
    prepareNewTransaction: (input: PrepareNewTransaction) => prepareNewTransaction(context, input),
  };
}

/** The local activities of a transaction's execution, as workflows see them. */
export type TransactionLocalActivities = ReturnType<typeof createTransactionLocalActivities>;
