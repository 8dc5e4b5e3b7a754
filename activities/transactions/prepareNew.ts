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

/** A transaction to observe. */
export interface PrepareNewTransaction extends TransactionRef {
  readonly networkId: number;
}

/** The dependencies, and what the local activities of one process share. */
export interface PrepareNewContext extends ObserveNewContext {
  /** Until when networks are left to the chain worker, by id (of `performance.now()`). */
  readonly backoffUntil: Map<number, number>;
  /** How many are observed now. */
  observing: number;
  /** What takes longer is left to the chain worker. */
  readonly timeoutMs: number;
}

/** The observation; null where something is signed, or signing is not the next step: the chain worker decides that. */
async function observe(
  context: PrepareNewContext,
  chain: ChainClient,
  input: PrepareNewTransaction,
): Promise<TransactionObservation | null> {
  const found = await readTransactionToObserve(context.db, input);
  if (!found || found.attempted || found.record.cancelling) return null;
  const seen = await observeNew(context, chain, found);
  return seen.kind === 'needsEnvelope' ? seen : null;
}

/**
 * Observes a transaction that has no signed attempt, as a local activity: no task of the chain worker is needed to sign it.
 * Null leaves it to the chain worker: something is signed, it fails, others are observed, or the network is not configured or
 * does not answer in time.
 */
export async function prepareNewTransaction(
  context: PrepareNewContext,
  input: PrepareNewTransaction,
): Promise<TransactionObservation | null> {
  const { chains, backoffUntil } = context;
  const { networkId } = input;
  const chain = chains.get(networkId);
  const isBackingOff = performance.now() < (backoffUntil.get(networkId) ?? 0);
  if (!chain || isBackingOff || context.observing >= AT_ONCE) return null;
  context.observing += 1;
  try {
    const work = observe(context, chain, input);
    const seen = await withTimeLimit(work, context.timeoutMs, () => 'timedOut' as const);
    if (seen !== 'timedOut') return seen;
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
  } finally {
    context.observing -= 1;
  }
  backoffUntil.set(networkId, performance.now() + BACKOFF_MS);
  return null;
}
