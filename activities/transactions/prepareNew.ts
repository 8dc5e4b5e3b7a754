import { type ChainClient, ChainUnavailable } from '../../src/chain/clients';
import { readTransactionToObserve } from '../../src/db/transactions';
import type { TransactionRef } from '../../src/domain/transaction';
import { withTimeLimit } from '../../src/timeLimit';
import type { ObserveNewContext } from './chainContext';
import type { TransactionObservation } from './observation';
import { observeNew } from './observeNew';

/** So many are observed at once, of all networks: others need the slots of local activities. */
const AT_ONCE = 8;
/** For how long a network that was too slow is then left to the chain worker. */
const BACKOFF_MS = 10_000;

/** A network that takes longer would hold slots that other workflows need. */
const TIMEOUT_MS = 500;

/** A transaction to observe. */
export interface PrepareNewTransaction extends TransactionRef {
  readonly networkId: number;
}

/** The observation; null where something is signed, or signing is not the next step: the chain worker decides that. */
async function observe(
  context: ObserveNewContext,
  chain: ChainClient,
  input: PrepareNewTransaction,
): Promise<TransactionObservation | null> {
  const found = await readTransactionToObserve(context.db, input);
  if (!found || found.attempted || found.record.cancelling) return null;
  const seen = await observeNew(context, chain, found);
  return seen.kind === 'needsEnvelope' ? seen : null;
}

/**
 * Observes transactions that have no signed attempt, as a local activity: no task of the chain worker is needed to sign one.
 * Null leaves it to the chain worker: something is signed, it fails, others are observed, or the network is not configured or
 * does not answer in time.
 */
export function createPrepareNewTransaction(
  context: ObserveNewContext,
  timeoutMs = TIMEOUT_MS,
): (input: PrepareNewTransaction) => Promise<TransactionObservation | null> {
  /** Until when networks are left to the chain worker, by id (of `performance.now()`). */
  const backoffUntil = new Map<number, number>();
  let observing = 0;
  return async (input) => {
    const { networkId } = input;
    const chain = context.chains.get(networkId);
    const isBackingOff = performance.now() < (backoffUntil.get(networkId) ?? 0);
    if (!chain || isBackingOff || observing >= AT_ONCE) return null;
    observing += 1;
    try {
      const work = observe(context, chain, input);
      const seen = await withTimeLimit(work, timeoutMs, () => 'timedOut' as const);
      if (seen !== 'timedOut') return seen;
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
    } finally {
      observing -= 1;
    }
    backoffUntil.set(networkId, performance.now() + BACKOFF_MS);
    return null;
  };
}
