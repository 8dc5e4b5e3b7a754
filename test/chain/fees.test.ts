import { MockActivityEnvironment } from '@temporalio/testing';
import { type Address, numberToHex } from 'viem';
import type { TransactionFollowed } from '../../activities/transactions/observation';
import type { PaidFees, TransactionRef } from '../../src/domain/transaction';
import { startRpcProxy } from '../support/rpcProxy';
import { rpc } from '../support/stack';
import { until } from '../support/until';
import { envelopeOf, GWEI, TransactionWorld } from './transactionWorld';

const RECIPIENT: Address = '0x00000000000000000000000000000000000A11ce';

let world: TransactionWorld;

beforeAll(async () => {
  world = await TransactionWorld.start(41_047);
});
afterAll(() => world?.stop());
beforeEach(() => world.fundRelayer());

const feesOf = async (ref: TransactionRef): Promise<PaidFees | null> => (await world.record(ref)).fees;

/** What the relayer has paid while something was done. */
async function paidBy(work: () => Promise<unknown>): Promise<bigint> {
  const before = await world.balanceOf(world.relayer);
  await work();
  return before - (await world.balanceOf(world.relayer));
}

describe('what the relayer has paid', () => {
  test('is stored with the outcome, equal to what its balance lacks', async () => {
    const ref = await world.transaction({ to: RECIPIENT, value: 5n });
    expect(await feesOf(ref)).toBeNull();
    const paid = await paidBy(() => world.execute(ref));
    expect(paid).toBeGreaterThan(0n);
    const known = { paid: String(paid), dataFee: '0', chainTransactions: 1, unknown: 0 };
    expect(await feesOf(ref)).toEqual({ ...known, gasUsed: expect.stringMatching(/^[1-9]\d+$/) });
    const { result } = await world.record(ref);
    expect(result?.fee).toBe(String(paid));
  });

  test('includes what reverted as a whole', async () => {
    const ref = await world.transaction({ to: RECIPIENT, value: 3n });
    const paid = await paidBy(async () => {
      expect(await world.followToEnd(ref, await world.signShortOfGas(ref))).toEqual({ kind: 'reverted' });
      await world.execute(ref);
    });
    expect(await feesOf(ref)).toMatchObject({ paid: String(paid), chainTransactions: 2, unknown: 0 });
    const { result } = await world.record(ref);
    expect(BigInt(result?.fee ?? 0)).toBeLessThan(paid);
  });

  test('is that of the one that was mined of several at a nonce', async () => {
    const ref = await world.transaction({ to: RECIPIENT, value: 3n });
    const firstId = await world.sign(ref);
    const paid = await paidBy(async () => {
      await rpc(world.url, 'anvil_setNextBlockBaseFeePerGas', [numberToHex(900n * GWEI)]);
      await world.mine();
      const mining = setInterval(() => void world.mine().catch(() => undefined), 400);
      try {
        const stuck = await world.followToEnd(ref, firstId);
        if (stuck.kind !== 'stuck') throw new Error(JSON.stringify(stuck));
        const raised = await world.signer.signTransaction({ ...ref, terms: stuck.terms });
        const ended = await world.followToEnd(ref, envelopeOf(raised));
        if (ended.kind === 'decided') await world.finish(ref, ended);
      } finally {
        clearInterval(mining);
        await rpc(world.url, 'anvil_setNextBlockBaseFeePerGas', ['0x1']);
      }
    });
    expect(await world.envelopes(ref)).toHaveLength(2);
    expect(await feesOf(ref)).toMatchObject({ paid: String(paid), chainTransactions: 1 });
  }, 60_000);

  test('includes the cancellation', async () => {
    const ref = await world.transaction({ to: RECIPIENT, value: 1n });
    const paid = await paidBy(() =>
      world.withoutMining(async () => {
        const first = world.followToEnd(ref, await world.sign(ref));
        await world.pending(1);
        await world.requestCancellation(ref);
        const seen = await world.prepare(ref, true);
        if (seen.kind !== 'needsEnvelope') throw new Error(JSON.stringify(seen));
        const cancelling = envelopeOf(await world.signer.signCancellation({ ...ref, terms: seen.terms }));
        const second = world.followToEnd(ref, cancelling);
        await until('the node has the new one', async () => {
          const row = await world
            .db('chain_envelopes')
            .where({ id: BigInt(cancelling) })
            .first();
          return row?.sent_at !== null;
        });
        await world.mine();
        await world.mine();
        const [, ended] = await Promise.all([first, second]);
        if (ended.kind === 'decided') await world.finish(ref, ended);
      }),
    );
    expect(await world.record(ref)).toMatchObject({ executionStatus: 'failed' });
    expect(await feesOf(ref)).toMatchObject({ paid: String(paid), chainTransactions: 1 });
    const rows = await world.db('relayer_fees').where({ transaction_id: ref.transactionId });
    expect(rows.map(({ kind }) => kind)).toEqual(['cancellation']);
  }, 30_000);

  test('is that of another block, once the chain has lost the first one', async () => {
    const ref = await world.transaction({ to: RECIPIENT, value: 2n });
    await world.execute(ref);
    const [envelope] = await world.envelopes(ref);
    const row = () =>
      world
        .db('relayer_fees')
        .where({ envelope_id: BigInt(envelope?.id ?? 0) })
        .first();
    const before = await row();
    await world
      .db('relayer_fees')
      .where({ envelope_id: BigInt(envelope?.id ?? 0) })
      .update({ gas_used: '1' });
    expect(await world.prepare(ref)).toMatchObject({ kind: 'decided' });
    expect(await row()).toEqual(before);
  });
});

describe('of the receipt of a node that lies', () => {
  const HUGE = `0x${'f'.repeat(64)}`;
  it.each<[lie: object, unknown: number, more: bigint | null]>([
    [{ gasUsed: HUGE }, 1, null],
    [{ gasUsed: '0xffffff' }, 1, null],
    [{ effectiveGasPrice: HUGE }, 1, null],
    [{ effectiveGasPrice: null }, 1, null],
    [{ l1Fee: 'much' }, 1, null],
    [{ l1Fee: HUGE }, 1, null],
    [{ l1Fee: `0x${'f'.repeat(100_000)}` }, 1, null],
    [{ l1Fee: -5 }, 1, null],
    [{ l1Fee: { a: 1 } }, 1, null],
    [{ l1Fee: '0x5' }, 0, 5n],
    [{ l1Fee: null, l1FeeScalar: '0.684', gasUsedForL1: '0x5' }, 0, 0n],
  ])('nothing breaks, and what cannot be is not known: %j', async (lie, unknown, more) => {
    const ref = await world.transaction({ to: RECIPIENT, value: 1n });
    const envelopeId = await world.sign(ref);
    const proxy = await startRpcProxy(world.url, async (body, pass) => {
      const text = await pass();
      if (!body.includes('eth_getTransactionReceipt')) return text;
      const answer = JSON.parse(text);
      if (answer.result) Object.assign(answer.result, lie);
      return JSON.stringify(answer);
    });
    const paid = await paidBy(async () => {
      try {
        const told = world.chainWith({ rpcUrls: [proxy.url] });
        const input = { ...ref, envelopeId, networkId: world.network.id, reported: null };
        const activity = new MockActivityEnvironment();
        const ended = (await activity.run(told.followTransaction, input)) as TransactionFollowed;
        expect(ended).toMatchObject({ kind: 'decided', outcome: { kind: 'executed' } });
        if (ended.kind === 'decided') await world.finish(ref, ended);
      } finally {
        await proxy.stop();
      }
    });
    expect(await world.record(ref)).toMatchObject({ executionStatus: 'completed' });
    const fees = await feesOf(ref);
    expect(fees).toMatchObject({ chainTransactions: 1, unknown });
    expect(fees?.paid).toBe(more === null ? '0' : String(paid + more));
  });
});
