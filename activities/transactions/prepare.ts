import { assertChainId, type ChainClient, ChainUnavailable } from '../../src/chain/clients';
import { type Attempt, attemptsOfTransaction, envelopesOf } from '../../src/db/attempts';
import type { Db } from '../../src/db/database';
import { undecidedEnvelope } from '../../src/db/envelopes';
import { readTransactionToObserve } from '../../src/db/transactions';
import { readAtNonce } from './atNonce';
import type { TransactionChainContext } from './chainContext';
import type { TransactionObservation } from './observation';
import { observeNew } from './observeNew';
import { observeSigned } from './observeSigned';
import type { PrepareNewTransaction } from './prepareNew';

/** A transaction to observe; `cancel`: its in-flight attempt is to be cancelled. */
export interface PrepareTransaction extends PrepareNewTransaction {
  readonly cancel: boolean;
}

/**
 * The observation while the chain is unavailable. An in-flight envelope is still followed: of a transaction that is to be
 * cancelled, only one that carries the cancellation.
 */
async function whileUnavailable(
  db: Db,
  attempts: readonly Attempt[],
  cancel: boolean,
  message: string,
): Promise<TransactionObservation> {
  if (attempts.length === 0) return { kind: 'unreachable', message };
  const cancellations = attempts.filter(({ kind }) => kind === 'cancellation');
  const followed = cancel || cancellations.length > 0 ? cancellations : attempts;
  const undecided = undecidedEnvelope(await envelopesOf(db, followed));
  return undecided ? { kind: 'inFlight', envelopeId: String(undecided.id) } : { kind: 'confirming', message };
}

/** Why a transaction of which nothing is signed cannot be signed; null when it can. */
function refuseNew(chain: ChainClient | undefined, input: PrepareTransaction): TransactionObservation | null {
  if (!chain) {
    const message = `network ${input.networkId} is not configured any more`;
    return { kind: 'failed', failure: { code: 'stale', message } };
  }
  if (!input.cancel) return null;
  return {
    kind: 'failed',
    failure: { code: 'timeout', message: 'it was cancelled before anything was signed' },
  };
}

/** Reads the state of a transaction on its chain, and determines the next step. */
export async function prepareTransaction(
  context: TransactionChainContext,
  input: PrepareTransaction,
): Promise<TransactionObservation> {
  const { db } = context;
  const found = await readTransactionToObserve(db, input);
  if (!found) throw new Error(`transaction ${input.transactionId} not found`);
  const { record } = found;
  // Its workflow may not know of the request yet.
  const cancel = input.cancel || record.cancelling;
  const attempts = found.attempted ? await attemptsOfTransaction(db, record.id) : [];
  const attempt = attempts.find(({ kind }) => kind === 'transaction');
  const chain = context.chains.get(input.networkId);
  const refusal = attempt ? null : refuseNew(chain, { ...input, cancel });
  if (refusal) return refusal;
  if (!chain) return { kind: 'confirming', message: `network ${input.networkId} is not configured any more` };
  try {
    if (!attempt) return await observeNew(context, chain, found);
    await assertChainId(chain);
    return await observeSigned(context, chain, await readAtNonce(db, record, attempt.safeNonce), cancel);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return whileUnavailable(db, attempts, cancel, error.message);
  }
}
