import { MockActivityEnvironment } from '@temporalio/testing';
import { type Address, concatHex, type Hex, numberToHex } from 'viem';
import type { TransactionFollowed } from '../../activities/transactions/observation';
import type { PaidFees, TransactionRef } from '../../src/domain/transaction';
import { setBaseFee } from '../support/baseFee';
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
      await setBaseFee(world.url, 900n * GWEI);
      const mining = setInterval(() => void world.mine().catch(() => undefined), 400);
      try {
        const stuck = await world.followToEnd(ref, firstId);
        if (stuck.kind !== 'stuck') throw new Error(JSON.stringify(stuck));
        const raised = await world.signer.signTransaction({ ...ref, terms: stuck.terms });
        const ended = await world.followToEnd(ref, envelopeOf(raised));
        if (ended.kind === 'decided') await world.finish(ref, ended);
      } finally {
        clearInterval(mining);
        await setBaseFee(world.url, 1n);
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

/** A real chain of that kind: anvil charges as the OP Stack does since Isthmus, and its receipts have none of the fields. */
describe('on the OP Stack', () => {
  const L1_BLOCK = '0x4200000000000000000000000000000000000015';
  const ORACLE = '0x420000000000000000000000000000000000000F';
  const [SCALAR, CONSTANT] = [500_000n, 1_234n];
  const word = (value: bigint): Hex => numberToHex(value, { size: 32 });
  const returning = (value: bigint) => concatHex(['0x7f', word(value), '0x60005260206000f3']);
  let rollup: TransactionWorld;

  beforeAll(async () => {
    rollup = await TransactionWorld.start(41_048, { dataFee: 'opStack' });
    // Slots 1, 3, 7 and 8 of L1Block: base fee, its scalars, blob base fee, and scalar and constant of the operator.
    for (const [slot, value] of [
      [1n, 10n ** 9n],
      [3n, (0x1234n << 96n) | (0x1234n << 64n)],
      [7n, 10n ** 9n],
      [8n, (SCALAR << 64n) | CONSTANT],
    ] as const)
      await rpc(rollup.url, 'anvil_setStorageAt', [L1_BLOCK, word(slot), word(value)]);
  });
  afterAll(() => rollup?.stop());
  beforeEach(async () => {
    await rollup.fundRelayer();
    await rollup.mine();
  });

  /** Pays, with receipts that have `said` and a node that refuses `forgets`. */
  async function pay({
    said = {},
    forgets,
    oracle,
  }: {
    said?: object;
    forgets?: string;
    /** Its code, once it is signed. */
    oracle?: Hex;
  }) {
    const proxy = await startRpcProxy(rollup.url, async (body, pass) => {
      const request = JSON.parse(body);
      if (forgets && request.method === forgets && request.params[1] !== 'latest') {
        const error = { code: -32_000, message: 'missing trie node' };
        return JSON.stringify({ jsonrpc: '2.0', id: request.id, error });
      }
      const text = await pass();
      if (request.method !== 'eth_getTransactionReceipt') return text;
      const answer = JSON.parse(text);
      if (answer.result) Object.assign(answer.result, said);
      return JSON.stringify(answer);
    });
    try {
      // It says how much the data costs at most, too.
      await rpc(rollup.url, 'anvil_setCode', [ORACLE, returning(1n)]);
      const ref = await rollup.transaction({ to: RECIPIENT, value: 1n });
      const envelopeId = await rollup.sign(ref);
      if (oracle) await rpc(rollup.url, 'anvil_setCode', [ORACLE, oracle]);
      const before = await rollup.balanceOf(rollup.relayer);
      const told = rollup.chainWith({ rpcUrls: [proxy.url] });
      const input = { ...ref, envelopeId, networkId: rollup.network.id, reported: null };
      const ended = (await new MockActivityEnvironment().run(
        told.followTransaction,
        input,
      )) as TransactionFollowed;
      if (ended.kind !== 'decided') throw new Error(JSON.stringify(ended));
      await rollup.finish(ref, ended);
      const paid = before - (await rollup.balanceOf(rollup.relayer));
      const { fees, result } = await rollup.record(ref);
      const [envelope] = await rollup.envelopes(ref);
      const row = await rollup
        .db('relayer_fees')
        .where({ envelope_id: BigInt(envelope?.id ?? 0) })
        .first();
      const charged = paid - BigInt(row?.gas_used ?? 0) * BigInt(row?.gas_price ?? 0);
      return { paid, charged, fees, result, gasUsed: BigInt(row?.gas_used ?? 0) };
    } finally {
      await proxy.stop();
    }
  }

  const constant = numberToHex(CONSTANT);
  const parameters = { operatorFeeScalar: numberToHex(SCALAR), operatorFeeConstant: constant };

  it.each<[string, object]>([
    ['nothing of it', {}],
    ['a part of it', { l1Fee: '0x5' }],
    ['the parameters', { l1Fee: '0x5', ...parameters }],
  ])('the balance of the relayer says what was paid, where receipts have %s', async (_, said) => {
    const { paid, charged, fees, result, gasUsed } = await pay({ said });
    expect(charged).toBeGreaterThan((gasUsed * SCALAR) / 1_000_000n + CONSTANT);
    expect(fees).toMatchObject({ paid: String(paid), dataFee: String(charged), unknown: 0 });
    expect(result?.fee).toBe(String(paid));
  });

  it('a receipt that says more than the relayer has paid is believed, since it may have received money in the block', async () => {
    const { fees } = await pay({ said: { l1Fee: '0xffffffffffff' } });
    expect(fees).toMatchObject({ dataFee: String(0xffffffffffffn), unknown: 0 });
  });

  it.each<[string, object, Hex, bigint | null]>([
    [
      'by the receipt, where nothing is charged by the gas',
      { l1Fee: '0x5', operatorFeeConstant: constant },
      '0x',
      5n + CONSTANT,
    ],
    ['by the oracle', { l1Fee: '0x5', ...parameters }, returning(77_777n), 77_782n],
    ['not at all without an oracle', { l1Fee: '0x5', ...parameters }, '0x', null],
    [
      'not at all by an oracle that says less than the constant',
      { l1Fee: '0x5', ...parameters },
      returning(7n),
      null,
    ],
  ])('without the state of the block it is known %s', async (_, said, oracle, dataFee) => {
    const { fees } = await pay({ said, forgets: 'eth_getBalance', oracle });
    expect(fees).toMatchObject(
      dataFee === null ? { paid: '0', unknown: 1 } : { dataFee: String(dataFee), unknown: 0 },
    );
  });
});
