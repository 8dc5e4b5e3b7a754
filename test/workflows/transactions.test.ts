/** @deep */

import type { Hex } from 'viem';
import { noteNetworks } from '../../activities/reconciler/noteNetworks';
import { transactionSubject } from '../../src/approvals/transactionSubject';
import { openApprovals } from '../../src/reconciler/openApprovals';
import { reconcilerScheduleId, taskQueues } from '../../src/temporal/ids';
import { searchAttributes } from '../../src/temporal/searchAttributes';
import type { Shown } from '../support/api';
import { anAddress } from '../support/builders';
import { changeMember } from '../support/decisions';
import { growAbove, heightOf, loseBlocksSince } from '../support/lostBlocks';
import { fundOnLocalChain, rpc } from '../support/stack';
import { itDeep } from '../support/suite';
import { executeTransaction, readTransaction, settledTransaction, signed } from '../support/transactionApi';
import { until } from '../support/until';
import { reconcilerOf } from './reconciling';
import {
  actionsOf,
  begun,
  cancellationSent,
  created,
  messages,
  reached,
  received,
  sent,
  setRelayerFunds,
  startTransactionWorld,
  type TransactionWorld,
  usageOf,
  withoutBlocks,
  workflowOfTransaction,
} from './transactionWorld';

let world: TransactionWorld;

beforeAll(async () => {
  world = await startTransactionWorld(41_071);
}, 60_000);
afterAll(() => world?.stop());

/** A transaction whose execution has failed, because the relayer has no funds. */
async function withoutFunds(): Promise<Shown> {
  await setRelayerFunds(world, 0n);
  const transaction = await begun(world);
  return settledTransaction(world.http, world.org, transaction);
}

describe('a new transaction', () => {
  it('is known to its workflow as its record says, and listed so without another write', async () => {
    const { db, org } = world;
    const transaction = await created(world);
    const handle = workflowOfTransaction(world, transaction);
    const record = await transactionSubject.read(db, { organizationId: org.id, id: transaction.id });
    expect(await handle.query('state')).toEqual(record && transactionSubject.state(record));
    const { typedSearchAttributes: listed } = await handle.describe();
    expect(listed.get(searchAttributes.signatureStatus)).toBe('pendingInitiatorSignature');
    expect(listed.get(searchAttributes.executionState)).toBe('none');
    expect(listed.get(searchAttributes.expiresAt)?.toISOString()).toBe(transaction.expiresAt);
    expect(listed.get(searchAttributes.accountId)).toEqual([transaction.accountId]);
    expect(listed.get(searchAttributes.networkId)).toEqual([String(transaction.networkId)]);
    const { events } = await handle.fetchHistory();
    const upserts = events?.filter((event) => event.upsertWorkflowSearchAttributesEventAttributes) ?? [];
    // One where a second ends between the request and the record.
    expect(upserts.length).toBeLessThanOrEqual(1);
  });

  it('is listed with what it does and how much it sends, from its first change on, and with why it failed', async () => {
    const failed = await withoutFunds();
    const listedOf = async () =>
      (await workflowOfTransaction(world, failed).describe()).typedSearchAttributes;
    const listed = await until('its failure is listed', async () => {
      const now = await listedOf();
      return now.get(searchAttributes.failureCode) !== 'none' && now;
    });
    expect(listed.get(searchAttributes.operation)).toBe('transfer');
    expect(listed.get(searchAttributes.amount)).toMatch(/^[\d.]+ \S+$/);
    expect(listed.get(searchAttributes.failureCode)).toBe('relayerFunds');
    const { events } = await workflowOfTransaction(world, failed).fetchHistory();
    const upserts = events?.filter((event) => event.upsertWorkflowSearchAttributesEventAttributes) ?? [];
    const names = upserts.map(({ upsertWorkflowSearchAttributesEventAttributes: upserted }) =>
      Object.keys(upserted?.searchAttributes?.indexedFields ?? {}),
    );
    // Never an event for them alone.
    expect(names.every((one) => one.some((name) => name !== 'Operation' && name !== 'Amount'))).toBe(true);
    expect(names.flat().filter((name) => name === 'Amount')).toHaveLength(1);
    await fundOnLocalChain(world.url, world.relayer);
    await reached(world, failed, 'completed');
  });

  it('waits where its Stack Trace says it does', async () => {
    const stacks = await workflowOfTransaction(world, await created(world)).query<string>('__stack_trace');
    expect(stacks).toMatch(/at untilChanged \(.*workflows\/transaction\.ts:\d+/);
    expect(stacks).toMatch(/at step \(.*workflows\/approval\.ts:\d+/);
    const lengths = stacks.split('\n\n').map((stack) => stack.trim().split('\n').length);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(5);
  });
});

it('has its outcome read by the signer soon after it is completed, though nobody asks', async () => {
  const transaction = await begun(world);
  await reached(world, transaction, 'completed');
  await until('the signer has read it', async () => {
    const row = await world.db('authorizations').where({ transaction_id: transaction.id }).first();
    return row?.outcome === 'executed';
  });
});

describe('a relayer with insufficient funds', () => {
  it('fails the execution with that reason; it continues by itself after a refill', async () => {
    const failed = await withoutFunds();
    expect(failed).toMatchObject({
      executionStatus: 'failed',
      failure: {
        code: 'relayerFunds',
        message: expect.stringContaining(`${world.relayer} has 0 ETH`),
        retryable: true,
        resumes: true,
      },
    });
    expect(await usageOf(world, failed)).toEqual(['released']);
    await fundOnLocalChain(world.url, world.relayer);
    await reached(world, failed, 'completed');
    expect(await received(world, failed)).toBe(1n);
    expect(await usageOf(world, failed)).toEqual(['released', 'committed']);
  });

  it('says that it does not continue while its network is not configured, and that it does once it is again', async () => {
    const { db, http, org } = world;
    const failed = await withoutFunds();
    const noted = async (networkIds: readonly number[]) => {
      for await (const page of openApprovals(db, networkIds)) {
        for (const approval of page.filter(({ id }) => id === failed.id)) {
          expect(await noteNetworks(db, approval)).toBe(true);
        }
      }
      return (await readTransaction(http, org, failed)).failure?.resumes;
    };
    await reconcilerOf(world).withoutSchedule(async () => {
      expect(failed.failure?.resumes).toBe(true);
      expect(await noted([])).toBe(false);
      expect(await noted([failed.networkId])).toBe(true);
    });
    await fundOnLocalChain(world.url, world.relayer);
    await reached(world, failed, 'completed');
  });

  itDeep(
    'does not continue while its initiator has another wallet, and does once they have the old one again',
    async () => {
      const { db, http, org, relayer, url } = world;
      const failed = await withoutFunds();
      const resumes = async () => (await readTransaction(http, org, failed)).failure?.resumes;
      expect(await resumes()).toBe(true);
      await changeMember(db, org, org.dave.id, { walletAddress: anAddress() });
      expect(await resumes()).toBe(false);
      await fundOnLocalChain(url, relayer);
      await until('the refill is seen, and the execution refused', async () => {
        const { events } = await workflowOfTransaction(world, failed).fetchHistory();
        return events?.some(
          ({ timerStartedEventAttributes: timer }) => Number(timer?.startToFireTimeout?.seconds) === 60,
        );
      });
      expect(await readTransaction(http, org, failed)).toMatchObject({ executionStatus: 'failed' });
      await changeMember(db, org, org.dave.id, { walletAddress: org.dave.wallet.address });
      expect(await resumes()).not.toBe(false);
      await until(
        'it is executed',
        async () => (await readTransaction(http, org, failed)).executionStatus === 'completed',
        90_000,
      );
      expect(await received(world, failed)).toBe(1n);
    },
    120_000,
  );

  it('can be rejected meanwhile; then a refill has no effect', async () => {
    const { http, org } = world;
    const failed = await withoutFunds();
    await signed(http, org, failed, org.alice, 'reject', { execute: true });
    await fundOnLocalChain(world.url, world.relayer);
    await workflowOfTransaction(world, failed).result();
    expect(await received(world, failed)).toBe(0n);
    expect(await readTransaction(http, org, failed)).toMatchObject({ executionStatus: 'rejected' });
  });
});

/** Executes a transaction and cancels it while no block is made; `meanwhile` runs before that. Returns the failed one. */
async function cancelled(transaction: Shown, meanwhile = async () => {}): Promise<Shown> {
  const { http, org } = world;
  let answered: Promise<unknown> = Promise.resolve();
  await withoutBlocks(world, async () => {
    // It answers when the execution has ended, some seconds later at most.
    answered = signed(http, org, transaction, org.dave, 'initiator', { execute: true });
    expect(await sent(world, transaction)).toMatchObject({
      executionStatus: 'processing',
      chain: { confirmations: 0 },
    });
    await meanwhile();
    await workflowOfTransaction(world, transaction).signal(messages.cancelTransactionSignal);
    await cancellationSent(world, transaction);
  });
  const failed = await reached(world, transaction, 'failed');
  await answered;
  return failed;
}

describe('a lost block', () => {
  itDeep('reopens a completed transaction, and its stored bytes complete it again', async () => {
    const { db, url, temporal, config } = world;
    const other = await begun(world);
    await reached(world, other, 'completed');
    const snapshot = await rpc<Hex>(url, 'evm_snapshot');
    const transaction = await begun(world);
    await reached(world, transaction, 'completed');
    await workflowOfTransaction(world, transaction).result();
    const attempts = () => db('chain_attempts').where({ transaction_id: transaction.id });
    const [before] = await attempts();
    // The chain goes on without it.
    await loseBlocksSince(url, snapshot);
    expect(await received(world, transaction)).toBe(0n);
    const queues = taskQueues(config.temporal.taskQueue);
    await temporal.schedule.getHandle(reconcilerScheduleId(queues)).trigger();
    await until('it is executed again', async () => {
      const actions = await actionsOf(world, transaction);
      return actions.includes('transaction.reopened') && actions.at(-1) === 'transaction.executed';
    });
    expect(await received(world, transaction)).toBe(1n);
    expect(await received(world, other)).toBe(1n);
    expect(await attempts()).toMatchObject([{ safe_tx_hash: before?.safe_tx_hash, outcome: 'executed' }]);
    expect(await usageOf(world, transaction)).toEqual(['committed']);
    expect(await actionsOf(world, other)).not.toContain('transaction.reopened');
  });

  itDeep(
    'makes what was cancelled in it undecided for the signer too, until the chain decides again',
    async () => {
      const { db, url, temporal, config } = world;
      const transaction = await created(world);
      // The chain adds a block of its own only after one with transactions.
      await rpc(url, 'anvil_mine', ['0x1']);
      const snapshot = await rpc<Hex>(url, 'evm_snapshot');
      await cancelled(transaction);
      await workflowOfTransaction(world, transaction).result();
      const signerOutcome = async () =>
        (await db('authorizations').where({ transaction_id: transaction.id }).first('outcome'))?.outcome;
      expect(await signerOutcome()).toBe('cancelled');
      const lost = await heightOf(url);
      await rpc(url, 'evm_revert', [snapshot]);
      await withoutBlocks(world, async () => {
        await growAbove(url, lost);
        const queues = taskQueues(config.temporal.taskQueue);
        await temporal.schedule.getHandle(reconcilerScheduleId(queues)).trigger();
        await until('the signer has read it again', async () => (await signerOutcome()) === null);
        expect(await usageOf(world, transaction)).toEqual(['reserved']);
      });
      const { executionStatus } = await settledTransaction(world.http, world.org, transaction);
      const isPaid = executionStatus === 'completed';
      expect(await signerOutcome()).toBe(isPaid ? null : 'cancelled');
      expect(await received(world, transaction)).toBe(isPaid ? 1n : 0n);
      expect(await usageOf(world, transaction)).toEqual([isPaid ? 'committed' : 'released']);
    },
  );
});

describe('a transaction that is not included', () => {
  it('fails for good when it is cancelled', async () => {
    const { http, org } = world;
    const transaction = await created(world);
    const failed = await cancelled(transaction, async () => {
      const refused = await executeTransaction(http, org, transaction, 'reject');
      expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    });
    expect(failed.failure).toMatchObject({ code: 'timeout', message: expect.stringContaining('cancelled') });
    expect(await received(world, transaction)).toBe(0n);
    expect(await usageOf(world, transaction)).toEqual(['released']);
    expect(failed.failure.retryable).toBe(false);
    for (const type of ['approve', 'reject'] as const) {
      const again = await executeTransaction(http, org, transaction, type);
      expect([again.status, again.body.code]).toEqual([409, 'conflict']);
      expect(again.body.message).toContain('has failed on chain');
    }
    const handle = workflowOfTransaction(world, transaction);
    await until('its workflow has ended', async () => (await handle.describe()).status.name === 'COMPLETED');
    expect(await actionsOf(world, transaction)).toEqual([
      'transaction.created',
      'transaction.signed',
      'transaction.executionStarted',
      'transaction.broadcast',
      'transaction.cancellationRequested',
      'transaction.executionFailed',
    ]);
  });
});
