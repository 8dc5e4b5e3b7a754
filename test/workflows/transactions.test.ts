import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { createPublicClient, http as rpcTransport, zeroAddress } from 'viem';
import { reconcilerScheduleId, taskQueues, transactionWorkflowId } from '../../src/temporal/ids';
import { giveUpSignal, transactionMessages } from '../../src/temporal/transactionMessages';
import { makeAccount, type Shown } from '../support/api';
import { anAddress } from '../support/builders';
import { startTestService, type TestOrganization, type TestService } from '../support/service';
import { fundOnLocalChain, rpc, sharedStack, startOwnChain, temporaryDir } from '../support/stack';
import {
  aTransactionBody,
  createTransaction,
  executeTransaction,
  makePolicies,
  readTransaction,
  settledTransaction,
  signed,
} from '../support/transactionApi';
import { until } from '../support/until';

const CHAIN_ID = 41_071;

let own: Awaited<ReturnType<typeof startOwnChain>>;
let url: string;
let service: TestService;
let org: TestOrganization;
let account: Shown;
let policy: Shown;
let relayer: string;
let connection: Connection;
let temporal: Client;

const SENDING = {
  name: 'Coins to anybody',
  type: 'AUTO_APPROVAL',
  transactionType: 'TOKEN_TRANSFER',
  networkId: CHAIN_ID,
  accountIds: null,
  initiatorSetting: null,
  limitation: {
    hours: 1,
    initiatorScope: 'ALL_ITEMS',
    sourceAccountScope: 'ALL_ITEMS',
    destinationScope: 'ALL_ITEMS',
  },
  tokenTransferCondition: { tokenAddress: zeroAddress, amountThreshold: '1000', destinationAddresses: [] },
};

beforeAll(async () => {
  own = await startOwnChain(CHAIN_ID);
  url = own.current.rpcUrl;
  const file = join(temporaryDir(), 'networks.json');
  writeFileSync(file, JSON.stringify([{ id: CHAIN_ID, name: 'Own', rpcUrl: url }]));
  service = await startTestService({ env: { NETWORKS_FILE: file, SIGNER_NETWORK: String(CHAIN_ID) } });
  org = await service.createOrganization();
  account = await makeAccount(service.http, org, { networkIds: [CHAIN_ID] });
  [policy] = await makePolicies(service.http, org, SENDING);
  await fundOnLocalChain(url, account.address);
  relayer = (await service.db('relayers').where({ network_id: CHAIN_ID }).first()).address;
  connection = await Connection.connect({ address: sharedStack().temporalAddress });
  temporal = new Client({ connection });
}, 60_000);
afterAll(async () => {
  await service?.stop();
  await own?.stop();
  await connection?.close();
});

/** A transfer of 1 wei to somebody new, created. */
async function created(): Promise<Shown> {
  const body = aTransactionBody(org, { account, policy, to: anAddress() }, { networkId: CHAIN_ID });
  return createTransaction(service.http, org, body);
}

/** The same, its execution begun. */
async function begun(): Promise<Shown> {
  return signed(service.http, org, await created(), org.dave, 'initiator', { execute: true });
}

async function received({ to }: Shown): Promise<bigint> {
  return createPublicClient({ transport: rpcTransport(url) }).getBalance({ address: to });
}

function workflowOf({ id }: Shown) {
  return temporal.workflow.getHandle(transactionWorkflowId(org.id, id));
}

async function actionsOf({ id }: Shown): Promise<string[]> {
  return service.db('audit_log').where({ resource_id: id }).orderBy('position').pluck('action');
}

async function usageOf({ id }: Shown): Promise<string[]> {
  return service.db('policy_usage').where({ transaction_id: id }).orderBy('id').pluck('status');
}

/** Waits until a transaction has that outcome. */
async function reached({ id }: Shown, status: string): Promise<Shown> {
  return until(`${id} is ${status}`, async () => {
    const found = await readTransaction(service.http, org, { id });
    return found.executionStatus === status && found;
  });
}

describe('a relayer without coin', () => {
  it('fails the execution with that reason, and a refill carries it on with no other hand', async () => {
    await rpc(url, 'anvil_setBalance', [relayer, '0x0']);
    const transaction = await begun();
    const failed = await settledTransaction(service.http, org, transaction);
    expect(failed).toMatchObject({
      executionStatus: 'failed',
      failure: { code: 'funds', message: expect.stringContaining(relayer) },
    });
    expect(await usageOf(transaction)).toEqual(['released']);
    await fundOnLocalChain(url, relayer);
    await reached(transaction, 'completed');
    expect(await received(transaction)).toBe(1n);
    expect(await usageOf(transaction)).toEqual(['released', 'committed']);
  });

  it('can be rejected meanwhile: then a refill does nothing', async () => {
    await rpc(url, 'anvil_setBalance', [relayer, '0x0']);
    const transaction = await begun();
    await settledTransaction(service.http, org, transaction);
    await signed(service.http, org, transaction, org.alice, 'reject', { execute: true });
    await fundOnLocalChain(url, relayer);
    await workflowOf(transaction).result();
    expect(await received(transaction)).toBe(0n);
    expect(await readTransaction(service.http, org, transaction)).toMatchObject({
      executionStatus: 'rejected',
    });
  });
});

describe('blocks that a chain loses', () => {
  it('take a completed transaction back, and its stored bytes complete it again', async () => {
    const other = await begun();
    await reached(other, 'completed');
    const snapshot = await rpc(url, 'evm_snapshot');
    const transaction = await begun();
    await reached(transaction, 'completed');
    await workflowOf(transaction).result();
    const before = await service.db('chain_attempts').where({ transaction_id: transaction.id });
    await rpc(url, 'evm_revert', [snapshot]);
    // The chain goes on without it.
    await rpc(url, 'anvil_mine', ['0x5']);
    expect(await received(transaction)).toBe(0n);
    await temporal.schedule
      .getHandle(reconcilerScheduleId(taskQueues(service.config.temporal.taskQueue)))
      .trigger();
    await until('it is executed again', async () => {
      const actions = await actionsOf(transaction);
      return actions.includes('transaction.reopened') && actions.at(-1) === 'transaction.executed';
    });
    expect(await received(transaction)).toBe(1n);
    expect(await received(other)).toBe(1n);
    const after = await service.db('chain_attempts').where({ transaction_id: transaction.id });
    expect(after).toHaveLength(1);
    expect(after[0]).toMatchObject({ safe_tx_hash: before[0].safe_tx_hash, outcome: 'executed' });
    expect(await usageOf(transaction)).toEqual(['committed']);
    expect(await actionsOf(other)).not.toContain('transaction.reopened');
  });
});

describe('a transaction that does not get through', () => {
  it('comes to nothing when it is given up, and can be tried again', async () => {
    await rpc(url, 'evm_setAutomine', [false]);
    const transaction = await created();
    // It answers when the execution has ended, some seconds later at most.
    const answered = signed(service.http, org, transaction, org.dave, 'initiator', { execute: true });
    try {
      const sent = await until('it has been sent', async () => {
        const found = await readTransaction(service.http, org, transaction);
        return found.chain !== undefined && found;
      });
      expect(sent).toMatchObject({ executionStatus: 'processing', chain: { confirmations: 0 } });
      const refused = await executeTransaction(service.http, org, transaction, 'reject');
      expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
      await workflowOf(transaction).signal(giveUpSignal);
      await until('its cancellation has been sent', async () => {
        const rows = await service
          .db('chain_envelopes')
          .join('chain_attempts', 'chain_attempts.id', 'attempt_id')
          .where({ transaction_id: transaction.id, kind: 'cancellation' })
          .whereNotNull('sent_at');
        return rows.length > 0;
      });
    } finally {
      await rpc(url, 'evm_setAutomine', [true]);
    }
    await rpc(url, 'anvil_mine', ['0x3']);
    const failed = await reached(transaction, 'failed');
    await answered;
    expect(failed.failure).toMatchObject({ code: 'timeout', message: expect.stringContaining('given up') });
    expect(await received(transaction)).toBe(0n);
    expect(await usageOf(transaction)).toEqual(['released']);
    await workflowOf(transaction).signal(transactionMessages.retryExecutionSignal);
    await reached(transaction, 'completed');
    expect(await received(transaction)).toBe(1n);
    expect(await usageOf(transaction)).toEqual(['released', 'committed']);
    expect(await actionsOf(transaction)).toEqual([
      'transaction.created',
      'transaction.signed',
      'transaction.executionStarted',
      'transaction.broadcast',
      'transaction.giveUpRequested',
      'transaction.executionFailed',
      'transaction.executionStarted',
      'transaction.broadcast',
      'transaction.executed',
    ]);
  });
});
