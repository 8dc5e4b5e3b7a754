import {
  allHandlersFinished,
  condition,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import type { TransactionChainActivities } from '../activities/transactionChain';
import type { TransactionActivities } from '../activities/transactions';
import { transactionDetails } from '../src/domain/operatorText';
import type { TransactionState } from '../src/domain/transaction';
import { searchAttributes } from '../src/temporal/searchAttributes';
import {
  giveUpSignal,
  giveUpUpdate,
  parseTransactionInput,
  parseTransactionSignMessage,
  type TransactionInput,
  type TransactionMessageResult,
  type TransactionSignMessage,
  transactionMessages,
} from '../src/temporal/transactionMessages';
import { executeOnChain } from './execution';
import { first } from './first';
import { receiveMessages, updateId } from './messages';
import { parseInput, recordActivities, untilExpiryMs } from './record';

const { createTransaction } = recordActivities<TransactionActivities>('Store the transaction');
const { recordTransactionVote } = recordActivities<TransactionActivities>('Verify and record a signature');
const { beginTransaction } = recordActivities<TransactionActivities>(
  'Check the policy again, reserve its budget, begin',
);
const { reportTransaction } = recordActivities<TransactionActivities>('Note what the execution waits for');
const { finishTransaction } = recordActivities<TransactionActivities>('Record what became of it');
const { requestGiveUp } = recordActivities<TransactionActivities>('Note that it is to be given up');
const { expireTransaction } = recordActivities<TransactionActivities>('Expire');
const { readTransactionState } = recordActivities<TransactionActivities>('Read the record');
const { recordTransactionRestored } = recordActivities<TransactionActivities>(
  'Note that the workflow was started again',
);

/**
 * One transaction of an account: waits for its initiator's signature and for those that its policy asks for, holds the
 * expiry timer, carries it to its chain, parks when that fails, and ends when nothing can change any more.
 *
 * The record in Postgres is the truth; this workflow is its clock and its hand. Every message runs one local activity
 * that decides and writes in one database transaction.
 */
export async function transactionWorkflow(given: TransactionInput): Promise<TransactionState | null> {
  const input = parseInput(parseTransactionInput, given);
  const ref = { organizationId: input.organizationId, transactionId: input.transactionId };
  let created: TransactionMessageResult | undefined;
  let state: TransactionState | null = null;
  let published = '';

  /** Takes over what a database transaction returned; never an older version for a newer one. */
  function adopt(next: TransactionState): void {
    if (state && next.version < state.version) return;
    state = next;
    setCurrentDetails(transactionDetails(next));
    const { signatureStatus, executionStatus, expiresAt, accountId, networkId } = next;
    const attributes = JSON.stringify([signatureStatus, executionStatus]);
    if (attributes === published) return;
    published = attributes;
    upsertSearchAttributes([
      { key: searchAttributes.signatureStatus, value: signatureStatus },
      { key: searchAttributes.executionState, value: executionStatus ?? 'none' },
      { key: searchAttributes.expiresAt, value: new Date(expiresAt) },
      { key: searchAttributes.accountId, value: [accountId] },
      { key: searchAttributes.networkId, value: [String(networkId)] },
    ]);
  }

  async function begin(
    messageId: string,
    message: { type: 'approve' | 'reject'; requestId?: string; actor?: 'operator' | 'system' },
  ): Promise<TransactionMessageResult> {
    const begun = await beginTransaction({ ...ref, ...message, messageId });
    if (begun.ok) adopt(begun.state);
    return begun;
  }

  async function sign(messageId: string, message: TransactionSignMessage): Promise<TransactionMessageResult> {
    const { execute, ...vote } = message;
    const signed = await recordTransactionVote({ ...ref, ...vote, messageId });
    if (!signed.ok) return signed;
    adopt(signed.state);
    const type = vote.type === 'reject' ? 'reject' : 'approve';
    if (execute !== true || !signed.state.ready.includes(type)) return signed;
    const { requestId } = vote;
    const begun = await begin(`${messageId}/execute`, {
      type,
      ...(requestId === undefined ? {} : { requestId }),
    });
    // The signature is recorded whatever else happened meanwhile; an execution that lost a race is not its failure.
    return begun.ok ? begun : signed;
  }

  async function giveUp(messageId: string): Promise<TransactionMessageResult> {
    await condition(() => created !== undefined);
    if (created && !created.ok) return created;
    const requested = await requestGiveUp({ ...ref, messageId });
    if (requested.ok) adopt(requested.state);
    return requested;
  }

  receiveMessages<TransactionState, TransactionMessageResult, TransactionSignMessage>(transactionMessages, {
    what: 'transaction',
    parseSign: parseTransactionSignMessage,
    state: () => state,
    created: () => created,
    sign,
    execute: begin,
    retry: (messageId) => begin(messageId, { type: 'approve', actor: 'operator' }),
    refresh: async () => adopt(await readTransactionState(ref)),
  });
  setHandler(giveUpUpdate, () => giveUp(updateId()), {
    validator: () => {
      updateId();
    },
    description: 'Let what is on its way come to nothing',
  });
  setHandler(
    giveUpSignal,
    async () => {
      await giveUp(`signal/${uuid4()}`);
    },
    { description: 'Let what is on its way come to nothing' },
  );

  const { queues, found, ...request } = input;
  created = await createTransaction(request);
  if (!created.ok) {
    setCurrentDetails(`**Refused:** ${created.refusal.message}\n\nNo transaction was made.`);
    await condition(allHandlersFinished);
    return null;
  }
  adopt(created.state);
  if (found) adopt(await recordTransactionRestored({ ...ref, found, runId: workflowInfo().runId }));

  const current = () => state as unknown as TransactionState;
  const wakes = () => current().closed || current().executionStatus === 'processing';

  /** Waits until something changes or the time is over. */
  async function waitOrExpire(): Promise<void> {
    const waited = current().awaitsRelayerWei;
    const woken = await condition(
      () => wakes() || current().awaitsRelayerWei !== waited,
      untilExpiryMs(current().expiresAt),
      { summary: `Expires at ${current().expiresAt}` },
    );
    if (!woken) adopt(await expireTransaction(ref));
  }

  /** The relayer had too little coin: it is watched, and the execution goes on by itself when it has enough. */
  async function waitForRelayer(wei: string): Promise<void> {
    const { networkId } = current();
    const { awaitRelayer } = proxyActivities<TransactionChainActivities>({
      taskQueue: queues.chain,
      startToCloseTimeout: '30m',
      heartbeatTimeout: '15s',
      // It only looks; how long it takes is up to whoever fills the relayer up.
      retry: { initialInterval: '1s', maximumInterval: '15s' },
      summary: `Wait until the relayer of network ${networkId} has ${wei} wei`,
    });
    const refilled = await first([
      () => awaitRelayer({ networkId, wei }).then(() => true),
      () => waitOrExpire().then(() => false),
    ]);
    if (!refilled) return;
    const begun = await begin(`refilled/${uuid4()}`, { type: 'approve', actor: 'system' });
    if (begun.ok) return;
    // Somebody was faster, or its time is over.
    adopt(await readTransactionState(ref));
    if (current().awaitsRelayerWei === wei && !wakes()) await waitOrExpire();
  }

  while (!current().closed) {
    const { executionStatus, networkId, awaitsRelayerWei } = current();
    if (executionStatus === 'processing') {
      const result = await executeOnChain(ref, {
        networkId,
        queues,
        report: async (waitingFor) => adopt(await reportTransaction({ ...ref, waitingFor })),
        isGivenUp: () => current().givingUp,
      });
      adopt(await finishTransaction({ ...ref, result }));
    } else if (awaitsRelayerWei !== null) {
      await waitForRelayer(awaitsRelayerWei);
    } else {
      await waitOrExpire();
    }
  }
  await condition(allHandlersFinished);
  return current();
}
