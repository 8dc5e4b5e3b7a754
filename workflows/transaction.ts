import { proxyActivities, sleep, uuid4 } from '@temporalio/workflow';
import type { ChainActivities } from '../activities/chainActivities';
import type { AwaitRelayer } from '../activities/relayer/awaitRelayer';
import type { TransactionActivities } from '../activities/worker';
import { transactionDetails } from '../src/domain/operatorText';
import type { Refusal } from '../src/domain/refusal';
import type { TransactionState } from '../src/domain/transactionState';
import type { SignerActivities } from '../src/signer/activities';
import { networkQueue } from '../src/temporal/ids';
import {
  parseTransactionInput,
  parseTransactionSignMessage,
  type TransactionInput,
} from '../src/temporal/messages';
import { ApprovalRun } from './approval';
import { databaseActivities, parseInput } from './databaseActivities';
import { executeOnChain } from './execution';
import { first } from './first';

/** The pause before an execution that continues by itself is begun again, where it was refused. */
const REFUSED_PAUSE = '1m';

const { finishTransaction } = databaseActivities<TransactionActivities>('Record the outcome');
const { requestCancellation } = databaseActivities<TransactionActivities>('Record the request to cancel');

/** Waits until the relayer of an account has a balance. */
function relayerActivities(chainQueue: string, { networkId, accountId }: AwaitRelayer) {
  return proxyActivities<ChainActivities>({
    taskQueue: networkQueue(chainQueue, networkId),
    startToCloseTimeout: '30m',
    heartbeatTimeout: '30s',
    // It only reads, until the relayer is funded.
    retry: { initialInterval: '1s', maximumInterval: '15s' },
    summary: `Wait until the relayer of ${accountId} on network ${networkId} is funded`,
  });
}

/** Has the signer record a rejection before it is executed. */
async function recordedBySigner({ organizationId, id, queues }: TransactionInput): Promise<Refusal | null> {
  const { recordRejection } = proxyActivities<SignerActivities>({
    taskQueue: queues.signer,
    startToCloseTimeout: '30s',
    // A second call finds the row of the first; a refusal is a result and is not retried.
    retry: { initialInterval: '500ms', maximumInterval: '15s' },
    summary: `Verify the rejections of ${id} and record them`,
  });
  const recorded = await recordRejection({ organizationId, transactionId: id });
  return recorded.ok ? null : recorded.refusal;
}

/** Finishes a rejection that the signer has recorded and that nobody has executed: the run that began it was lost. */
async function finishRejection(run: ApprovalRun<TransactionState>): Promise<void> {
  const started = await run.begin(`rejected/${uuid4()}`, { type: 'reject', actor: 'system' });
  // Its votes do not count any more: it can never be executed, and expires.
  if (!started.ok) await untilChanged(run);
}

/** Executes on chain, and records the outcome. */
async function execute(run: ApprovalRun<TransactionState>, input: TransactionInput): Promise<void> {
  const { organizationId, id, queues } = input;
  const result = await executeOnChain(
    { organizationId, transactionId: id },
    {
      networkId: run.current.networkId,
      queues,
      report: (waiting) => run.reportWaiting(waiting),
      isCancelled: () => run.current.cancelling,
    },
  );
  await run.update(() => finishTransaction({ organizationId, id, result }));
}

/** Waits until the transaction changes, or until its expiry. */
function untilChanged(run: ApprovalRun<TransactionState>): Promise<boolean> {
  const { awaitsRelayerWei } = run.current;
  return run.changedBeforeExpiry(
    () => run.isClosedOrProcessing || run.current.awaitsRelayerWei !== awaitsRelayerWei,
  );
}

/** The relayer had insufficient funds: the execution continues by itself when its balance is high enough. */
async function continueWhenFunded(
  run: ApprovalRun<TransactionState>,
  chainQueue: string,
  wei: string,
): Promise<void> {
  const { networkId, accountId } = run.current;
  const awaited = { networkId, accountId, wei };
  const { awaitRelayer } = relayerActivities(chainQueue, awaited);
  const isFunded = await first([
    () => awaitRelayer(awaited).then(() => true),
    () => untilChanged(run).then(() => false),
  ]);
  if (!isFunded) return;
  const started = await run.begin(`funded/${uuid4()}`, { type: 'approve', actor: 'system' });
  if (started.ok) return;
  // Another message was faster, it has expired, or too few votes count now: it continues once enough do.
  await run.refresh();
  const { version } = run.current;
  await first([
    () => run.changedBeforeExpiry(() => run.isClosedOrProcessing || run.current.version !== version),
    () => sleep(REFUSED_PAUSE).then(() => false),
  ]);
}

/**
 * One transaction of an account: waits for its initiator's signature and for those that its policy asks for, drives its
 * expiry timer, executes it on chain, parks after a failure, and ends when it is closed.
 *
 * The record in Postgres is the truth; this workflow drives its timers and side effects. Every message runs one local
 * activity that decides and writes in one database transaction.
 */
export async function transactionWorkflow(given: TransactionInput): Promise<TransactionState | null> {
  const input = parseInput(parseTransactionInput, given);
  const { organizationId, id, queues } = input;
  const run = new ApprovalRun<TransactionState>('transaction', input, (own) => ({
    parseSignMessage: parseTransactionSignMessage,
    details: transactionDetails,
    places: ({ accountId, networkId }) => ({ accountIds: [accountId], networkIds: [networkId] }),
    content: ({ operation, amount }) => ({ operation, amount }),
    beforeRejection: () => recordedBySigner(input),
    execute: () => execute(own, input),
    async park() {
      const { awaitsRelayerWei, rejecting } = own.current;
      if (rejecting) await finishRejection(own);
      else if (awaitsRelayerWei === null) await untilChanged(own);
      else await continueWhenFunded(own, queues.chain, awaitsRelayerWei);
    },
    cancel: (messageId) => requestCancellation({ organizationId, id, messageId }),
  }));
  return run.follow();
}
