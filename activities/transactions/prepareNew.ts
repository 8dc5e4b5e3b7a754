import { setTimeout as sleep } from 'node:timers/promises';
import { ChainUnavailable } from '../../src/chain/clients';
import { readTransactionToObserve } from '../../src/db/transactions';
import type { TransactionRef } from '../../src/domain/transaction';
import type { ObserveNewContext } from './chainContext';
import type { TransactionObservation } from './observation';
import { observeNew } from './observeNew';

/** A network that takes longer is left to the chain worker: it would hold a slot that other workflows need. */
const TIMEOUT_MS = 1_000;
/** How long that network is then left to the chain worker. */
const BACKOFF_MS = 10_000;

/** A transaction to observe. */
export interface PrepareNewTransaction extends TransactionRef {
  readonly networkId: number;
}

/** The dependencies, and until when networks are left to the chain worker, by id (of `performance.now()`). */
interface PrepareNewContext extends ObserveNewContext {
  readonly backoffUntil: Map<number, number>;
}

/**
 * Observes a transaction that has no signed attempt, as a local activity: no task of the chain worker is needed. Null leaves
 * it to the chain worker: something is signed, or the network is not configured, or does not answer within 1 s.
 */
export async function prepareNewTransaction(
  context: PrepareNewContext,
  input: PrepareNewTransaction,
): Promise<TransactionObservation | null> {
  const { db, chains, backoffUntil } = context;
  const { networkId } = input;
  const chain = chains.get(networkId);
  if (!chain || performance.now() < (backoffUntil.get(networkId) ?? 0)) return null;
  const found = await readTransactionToObserve(db, input);
  if (!found || found.attempted) return null;
  const timer = new AbortController();
  const timedOut = sleep(TIMEOUT_MS, null, { signal: timer.signal }).catch(() => null);
  try {
    const seen = await Promise.race([observeNew(context, chain, found), timedOut]);
    if (seen) return seen;
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
  } finally {
    timer.abort();
  }
  backoffUntil.set(networkId, performance.now() + BACKOFF_MS);
  return null;
}
