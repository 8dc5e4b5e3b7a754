import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { numberToHex, parseEther } from 'viem';
import { newId } from '../../src/db/ids';
import { APPROVAL_WORKFLOWS, restartApproval, startOptions } from '../../src/temporal/approvalMessages';
import { approvalWorkflowId, taskQueues } from '../../src/temporal/ids';
import { findWorkflow } from '../../src/temporal/runs';
import { RECONCILE_WORKFLOW } from '../../src/temporal/schedule';
import type { Shown } from '../support/api';
import { rpc } from '../support/stack';
import {
  executeTransaction,
  makePolicies,
  readTransaction,
  signatureBody,
  signed,
} from '../support/transactionApi';
import { until } from '../support/until';
import {
  actionsOf,
  begun,
  cancellationSent,
  created,
  messages,
  reached,
  sending,
  sent,
  setRelayerFunds,
  startTransactionWorld,
  type TransactionWorld,
  withoutBlocks,
  workflowOfTransaction,
} from '../workflows/transactionWorld';

type Anonymous = (handle: WorkflowHandle) => Promise<string>;

const LIFETIME = '12s';

/** Records the history of a transaction's workflow in each state, and a pass of the reconciler over a network. */
export async function recordTransactions(anonymous: Anonymous): Promise<Map<string, string>> {
  return new Map([
    ...(await recordWith(41_073, {}, (world) => recordStates(world, anonymous))),
    ...(await recordWith(41_074, { PROPOSAL_LIFETIME: LIFETIME }, (world) => recordExpiry(world, anonymous))),
  ]);
}

async function recordWith(
  networkId: number,
  env: NodeJS.ProcessEnv,
  record: (world: TransactionWorld) => Promise<Map<string, string>>,
): Promise<Map<string, string>> {
  const world = await startTransactionWorld(networkId, env);
  try {
    return await record(world);
  } finally {
    await world.stop();
  }
}

async function recordExpiry(world: TransactionWorld, anonymous: Anonymous): Promise<Map<string, string>> {
  const transaction = await created(world);
  await signed(world.http, world.org, transaction, world.org.dave, 'initiator');
  const handle = workflowOfTransaction(world, transaction);
  await handle.result();
  return new Map([['transactionExpired', await anonymous(handle)]]);
}

async function recordStates(world: TransactionWorld, anonymous: Anonymous): Promise<Map<string, string>> {
  const { http, org, networkId, temporal } = world;
  const recorded = new Map<string, string>();
  const record = async (name: string, transaction: Shown) => {
    recorded.set(name, await anonymous(workflowOfTransaction(world, transaction)));
  };
  const recordEnd = async (name: string, transaction: Shown) => {
    await workflowOfTransaction(world, transaction).result();
    await record(name, transaction);
  };

  const waiting = await created(world);
  await record('transactionWaiting', waiting);

  const [reviewed, small] = await makePolicies(
    http,
    org,
    sending(networkId, {
      name: 'Reviewed',
      type: 'MANUAL_APPROVAL',
      approverSetting: { type: 'user', memberId: org.alice.id },
      limitation: null,
    }),
    sending(networkId, { name: 'One a time' }),
  );
  const manual = { policyId: reviewed.id };

  const initiated = await created(world, manual);
  await signed(http, org, initiated, org.dave, 'initiator');
  await record('transactionInitiated', initiated);

  const automatic = await begun(world);
  await reached(world, automatic, 'completed');
  await recordEnd('transactionSent', automatic);

  const approved = await created(world, manual);
  const toApprove = await signed(http, org, approved, org.dave, 'initiator');
  await signed(http, org, toApprove, org.alice, 'approve');
  await executeTransaction(http, org, approved);
  await reached(world, approved, 'completed');
  await recordEnd('transactionApproved', approved);

  const rejected = await signed(http, org, await created(world, manual), org.dave, 'initiator');
  await signed(http, org, rejected, org.alice, 'reject', { execute: true });
  await recordEnd('transactionRejected', rejected);

  // Signatures as signals: of a wrong shape, forged, right.
  const signalled = await created(world);
  const handle = workflowOfTransaction(world, signalled);
  await handle.signal('sign', null);
  await handle.signal(messages.signSignal, { type: 'initiator', signature: '0x' });
  await handle.signal(messages.signSignal, {
    ...(await signatureBody(signalled, org.dave, 'initiator', { execute: true })),
    type: 'initiator',
  });
  await recordEnd('transactionSignalled', signalled);

  // What nobody has asked for is refused by the create itself.
  const queues = taskQueues(world.config.temporal.taskQueue);
  const nobodys = { subject: 'transaction' as const, organizationId: org.id, id: newId('txn') };
  const refused = await temporal.workflow.start(
    APPROVAL_WORKFLOWS.transaction,
    startOptions(queues, nobodys, { requestId: randomUUID() }) as never,
  );
  await refused.result();
  recorded.set('transactionRefusedCreate', await anonymous(refused));

  const over = { policyId: small.id, value: '700' };
  const first = await begun(world, over);
  await reached(world, first, 'completed');
  const blocked = await begun(world, over);
  await reached(world, blocked, 'blocked');
  await record('transactionBlocked', blocked);

  await setRelayerFunds(world, 0n);
  const refilled = await begun(world);
  await reached(world, refilled, 'failed');
  await record('transactionUnfunded', refilled);
  await setRelayerFunds(world, parseEther('10'));
  await reached(world, refilled, 'completed');
  await recordEnd('transactionFunded', refilled);

  // More than the account has: refused before it costs gas, until somebody funds the account and tries again.
  const balance = (
    await http.send({ key: org.readKey, path: `/api/v1/accounts/${world.account.id}/balances` })
  ).body.data[0].rawAmount;
  const [rich] = await makePolicies(
    http,
    org,
    sending(networkId, {
      name: 'More than there is',
      limitation: null,
      tokenTransferCondition: {
        tokenAddress: '0x0000000000000000000000000000000000000000',
        amountThreshold: String(BigInt(balance) * 2n),
        destinationAddresses: [],
      },
    }),
  );
  const poor = await begun(world, { policyId: rich.id, value: String(BigInt(balance) + 1n) });
  await reached(world, poor, 'failed');
  await record('transactionFailed', poor);
  await rpc(world.url, 'anvil_setBalance', [world.account.address, numberToHex(2n * BigInt(balance))]);
  await workflowOfTransaction(world, poor).signal(messages.retryExecutionSignal);
  await reached(world, poor, 'completed');
  await recordEnd('transactionRetried', poor);

  const cancelled = await created(world);
  let answered: Promise<unknown> = Promise.resolve();
  await withoutBlocks(world, async () => {
    answered = signed(http, org, cancelled, org.dave, 'initiator', { execute: true });
    await sent(world, cancelled);
    await workflowOfTransaction(world, cancelled).signal(messages.cancelTransactionSignal);
    await cancellationSent(world, cancelled);
  });
  await reached(world, cancelled, 'failed');
  await answered;
  await recordEnd('transactionCancelled', cancelled);

  // Terminated by somebody, and started again from its record.
  const lost = await signed(http, org, await created(world, manual), org.dave, 'initiator');
  await workflowOfTransaction(world, lost).terminate('by mistake');
  const sender = { client: temporal, queues, deadlineMs: 10_000 };
  const found = await findWorkflow(
    sender,
    approvalWorkflowId({ subject: 'transaction', organizationId: org.id, id: lost.id }),
  );
  if (found.status === 'running') throw new Error('a terminated workflow runs');
  await restartApproval(sender, { subject: 'transaction', organizationId: org.id, id: lost.id }, found);
  await until('it is noted', async () => (await actionsOf(world, lost)).includes('transaction.restored'));
  await signed(http, org, await readTransaction(http, org, lost), org.alice, 'approve', { execute: true });
  await reached(world, lost, 'completed');
  await recordEnd('transactionRestored', lost);

  const pass = await temporal.workflow.start(RECONCILE_WORKFLOW, {
    taskQueue: world.config.temporal.taskQueue,
    workflowId: `${org.id}/reconcile`,
  });
  await pass.result();
  recorded.set('reconciledNetworks', await anonymous(pass));
  return recorded;
}
