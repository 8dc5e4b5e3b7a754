import { condition, isCancellation, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { ChainActivities } from '../activities/chainActivities';
import type { TransactionFollowed, TransactionObservation } from '../activities/transactions/observation';
import type { WorkerActivities } from '../activities/worker';
import type { TransactionTerms } from '../src/domain/terms';
import type { AttemptOutcome, TransactionRef } from '../src/domain/transaction';
import type { ExecutionResult } from '../src/domain/transactionState';
import type { SignerActivities } from '../src/signer/activities';
import type { ConfirmedOutcome } from '../src/signer/transaction/confirmOutcome';
import { networkQueue } from '../src/temporal/ids';
import { first } from './first';
import { type Effect, type Followed, type Observed, type SettlementContext, settle } from './settlement';

const FIRST_PAUSE_MS = 500;

/** Where an execution runs. */
interface ExecutionContext extends SettlementContext {
  /** True once an operator has requested a cancellation. */
  readonly isCancelled: () => boolean;
}

/** What is to be signed: the transaction, or the empty call that takes its nonce. */
interface Need {
  readonly terms: TransactionTerms;
  readonly cancels: boolean;
}

/** The activities of a transaction's execution, and the summary of each for operators. */
function executionActivities(
  { transactionId }: TransactionRef,
  { networkId, queues }: ExecutionContext,
): Pick<ChainActivities, 'prepareTransaction' | 'followTransaction'> &
  Pick<WorkerActivities, 'prepareNewTransaction'> &
  Pick<SignerActivities, 'signTransaction' | 'signCancellation' | 'confirmOutcome'> {
  const summary = `${transactionId} on network ${networkId}`;
  const { prepareNewTransaction } = proxyLocalActivities<WorkerActivities>({
    startToCloseTimeout: '5s',
    // On a failure the chain worker does it.
    retry: { maximumAttempts: 1 },
    summary: `Simulate ${summary}`,
  });
  const { prepareTransaction } = proxyActivities<ChainActivities>({
    taskQueue: networkQueue(queues.chain, networkId),
    startToCloseTimeout: '30s',
    // It only reads; a failure is of the database or a worker, and temporary.
    retry: { initialInterval: '500ms', maximumInterval: '15s' },
    summary: `Look for ${summary}, and simulate it`,
  });
  const { followTransaction } = proxyActivities<ChainActivities>({
    taskQueue: networkQueue(queues.chain, networkId),
    startToCloseTimeout: '30m',
    heartbeatTimeout: '30s',
    // The same stored bytes are sent again; the chain takes a nonce once.
    retry: { initialInterval: '500ms', maximumInterval: '15s' },
    summary: `Send and follow ${summary}`,
  });
  const signing = {
    taskQueue: networkQueue(queues.signer, networkId),
    startToCloseTimeout: '30s',
    // A second call returns the envelope of the first; a refusal is a result and is not retried.
    retry: { initialInterval: '500ms', maximumInterval: '15s' },
  } as const;
  const { signTransaction, signCancellation } = proxyActivities<SignerActivities>({
    ...signing,
    summary: `Verify all evidence and sign ${summary}`,
  });
  const { confirmOutcome } = proxyActivities<SignerActivities>({
    ...signing,
    summary: `Confirm what became of ${summary}`,
  });
  return {
    prepareNewTransaction,
    prepareTransaction,
    followTransaction,
    signTransaction,
    signCancellation,
    confirmOutcome,
  };
}

/** What the execution waits for, where the signer does not read the same as the chain worker. */
function unconfirmed(seen: ConfirmedOutcome, otherwise: string): Observed<ExecutionResult, Need> {
  return { kind: 'confirming', message: 'unreachable' in seen ? seen.unreachable : otherwise };
}

/**
 * The end of an execution that the chain has decided against, or otherwise than the signer has read before, counts once the
 * signer has read the same.
 */
async function confirmed(
  { outcome }: { readonly outcome: AttemptOutcome },
  confirm: () => Promise<ConfirmedOutcome>,
): Promise<Observed<ExecutionResult, Need>> {
  const done = { kind: 'done', result: { status: 'decided', outcome } } as const;
  if (outcome.kind === 'executed' && !outcome.reversed) return done;
  const seen = await confirm();
  if ('outcome' in seen && seen.outcome === outcome.kind) return done;
  return unconfirmed(seen, `the chain worker reads that it was ${outcome.kind}, and the signer does not`);
}

/** The chain worker does not read what the signer has: the signer reads again, because budgets and replacements rely on it. */
async function readAgain(
  { message }: { readonly message: string },
  confirm: () => Promise<ConfirmedOutcome>,
): Promise<Observed<ExecutionResult, Need>> {
  const seen = await confirm();
  const isUndone = 'outcome' in seen && seen.outcome === null;
  return unconfirmed(
    seen,
    isUndone
      ? 'neither the signer nor the chain worker reads an outcome any more: the signed bytes are sent again'
      : message,
  );
}

/** What an observation asks for next; an outcome counts once the signer has read the same (`confirm`). */
async function afterObservation(
  seen: TransactionObservation,
  confirm: () => Promise<ConfirmedOutcome>,
): Promise<Observed<ExecutionResult, Need>> {
  switch (seen.kind) {
    case 'decided':
      return confirmed(seen, confirm);
    case 'confirming':
      return seen.unconfirmed ? readAgain(seen, confirm) : seen;
    case 'failed': {
      const { failure, awaitsRelayerWei } = seen;
      const awaits = awaitsRelayerWei === undefined ? {} : { awaitsRelayerWei };
      return { kind: 'done', result: { status: 'failed', failure, ...awaits } };
    }
    case 'needsEnvelope': {
      const { terms, cancels, attempted } = seen;
      return { kind: 'needsEnvelope', need: { terms, cancels }, attempted };
    }
    default:
      return seen;
  }
}

/** What an envelope that was followed asks for next; undefined: it was followed no more. */
function afterFollowing(followed: TransactionFollowed | undefined): Followed<ExecutionResult, Need> {
  switch (followed?.kind) {
    case 'decided': {
      const { outcome } = followed;
      if (outcome.kind !== 'executed') return { kind: 'ended' };
      return { kind: 'done', result: { status: 'decided', outcome } };
    }
    case 'stuck':
      return { kind: 'stuck', need: { terms: followed.terms, cancels: followed.cancels } };
    case 'gap':
    case 'waiting':
      return followed;
    default:
      return { kind: 'ended' };
  }
}

/** Executes a transaction on its chain, from any state: not begun, in flight, or executed. */
export async function executeOnChain(
  ref: TransactionRef,
  context: ExecutionContext,
): Promise<ExecutionResult> {
  const { networkId, isCancelled } = context;
  const activities = executionActivities(ref, context);
  let isFirst = true;
  /** Whether what was observed last was to be cancelled. */
  let seenCancelled = false;
  /** The first observation, as a local activity; null leaves it to the chain worker. */
  async function observeLocally(): Promise<TransactionObservation | null> {
    if (!isFirst || isCancelled()) return null;
    isFirst = false;
    try {
      return await activities.prepareNewTransaction({ ...ref, networkId });
    } catch (error) {
      if (isCancellation(error)) throw error;
      return null;
    }
  }
  const execution: Effect<ExecutionResult, Need> = {
    unreportedChecks: 0,
    firstPauseMs: FIRST_PAUSE_MS,
    async observe() {
      seenCancelled = isCancelled();
      const seen =
        (await observeLocally()) ??
        (await activities.prepareTransaction({ ...ref, networkId, cancel: seenCancelled }));
      return afterObservation(seen, () => activities.confirmOutcome(ref));
    },
    sign: ({ terms, cancels }) =>
      (cancels ? activities.signCancellation : activities.signTransaction)({ ...ref, terms }),
    async follow(envelopeId, reported) {
      const isOutdated = () => isCancelled() !== seenCancelled;
      // The cancellation was requested while this envelope was looked for or signed: it is not sent.
      if (isOutdated()) return { kind: 'ended' };
      const followed = await first([
        () => activities.followTransaction({ ...ref, envelopeId, networkId, reported }),
        // The envelope is checked again as soon as a cancellation is requested.
        () => condition(isOutdated).then(() => undefined),
      ]);
      return afterFollowing(followed);
    },
    refused(refusal) {
      const isBlocked = ['policy', 'budget', 'stale'].includes(refusal.code);
      return { status: isBlocked ? 'blocked' : 'failed', failure: refusal };
    },
    unavailable: (message) => ({ status: 'failed', failure: { code: 'rpc', message } }),
  };
  return settle(execution, context);
}
