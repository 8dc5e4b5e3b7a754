import { setTimeout as sleep } from 'node:timers/promises';
import { ChainUnavailable } from '../../src/chain/clients';
import { readTransactionToObserve } from '../../src/db/transactions';
import type { TransactionRef } from '../../src/domain/transaction';
import type { TransactionObservation } from './observation';
import { type NewTransactionContext, observeNew } from './observeNew';

/** A network that takes longer is left to the chain worker: what waits for it here holds up others. */
const PATIENCE_MS = 1_000;
/** For so long it is not asked here again. */
const AVOIDED_MS = 10_000;

/** The dependencies, and until when networks are left to the chain worker (of `performance.now()`), by network. */
export interface EarlyContext extends NewTransactionContext {
  readonly avoidedUntil: Map<number, number>;
}

/**
 * Observes a transaction of which nothing is signed in the worker of its workflow, which needs no task of the chain worker.
 * Null: that one has to look, because something is signed, or because the network does not answer at once.
 */
export async function prepareNewTransaction(
  context: EarlyContext,
  input: TransactionRef & { readonly networkId: number },
): Promise<TransactionObservation | null> {
  const { db, chains, avoidedUntil } = context;
  const { networkId } = input;
  const chain = chains.get(networkId);
  if (!chain || performance.now() < (avoidedUntil.get(networkId) ?? 0)) return null;
  const found = await readTransactionToObserve(db, input);
  if (!found || found.attempted) return null;
  const over = new AbortController();
  const slow = sleep(PATIENCE_MS, null, { signal: over.signal }).catch(() => null);
  try {
    const seen = await Promise.race([observeNew(context, chain, found), slow]);
    if (seen) return seen;
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
  } finally {
    over.abort();
  }
  avoidedUntil.set(networkId, performance.now() + AVOIDED_MS);
  return null;
}

/** The activities of a workflow's worker that look at chains before the chain worker does. */
export function createEarlyActivities(deps: NewTransactionContext) {
  const context: EarlyContext = { ...deps, avoidedUntil: new Map() };
  return {
    prepareNewTransaction: (input: TransactionRef & { readonly networkId: number }) =>
      prepareNewTransaction(context, input),
  };
}

/** The activities of a workflow's worker that look at chains, as workflows see them. */
export type EarlyActivities = ReturnType<typeof createEarlyActivities>;
