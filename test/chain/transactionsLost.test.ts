/** @deep */

import { setTimeout as sleep } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import { type Address, encodeFunctionData, type Hex, parseAbi, parseTransaction } from 'viem';
import { requireRow } from '../../src/db/rows';
import type { TransactionRef } from '../../src/domain/transaction';
import { COUNTER } from '../support/contracts';
import { growAbove, heightOf, remember } from '../support/lostBlocks';
import { startRpcProxy } from '../support/rpcProxy';
import { rpc } from '../support/stack';
import { itDeep } from '../support/suite';
import { until } from '../support/until';
import { envelopeOf, type TestAccount, TransactionWorld } from './transactionWorld';
import { sendAsFunder } from './wallets';

let world: TransactionWorld;

beforeAll(async () => {
  world = await TransactionWorld.start(41_041);
});

afterAll(() => world?.stop());

const counterAbi = parseAbi([
  'function increment()',
  'function set(uint256)',
  'function demand(uint256)',
  'function value() view returns (uint256)',
]);
const INCREMENT = encodeFunctionData({ abi: counterAbi, functionName: 'increment' });
const number = (functionName: 'set' | 'demand', value: bigint) =>
  encodeFunctionData({ abi: counterAbi, functionName, args: [value] });

let seed = 0;
function counter(): Promise<Address> {
  seed += 1;
  return world.contract(`lost ${seed}`, COUNTER);
}

function countOf(address: Address): Promise<bigint> {
  return world.client.rpc.readContract({ address, abi: counterAbi, functionName: 'value' });
}

const findLostTransactions = () => world.chain.findLostTransactions({ networkId: world.network.id });

async function rawOf(ref: TransactionRef): Promise<Hex[]> {
  return (await world.envelopes(ref)).map(({ raw_transaction }) => raw_transaction as Hex);
}

async function callOf(ref: TransactionRef): Promise<{ to: Address; data: Hex }> {
  const [raw] = await rawOf(ref);
  const { to, data } = parseTransaction(raw ?? '0x');
  return { to: to as Address, data: data as Hex };
}

/** Uses the nonce of the first envelope of a transaction for an empty transfer. */
async function useNonceOf(ref: TransactionRef): Promise<void> {
  const { relayer_nonce } = requireRow(await world.envelopes(ref).first());
  const relayer = world.keystore.relayerKey(world.network.id, 0);
  const fees = { maxFeePerGas: 100n * 10n ** 9n, maxPriorityFeePerGas: 1n, gas: 21_000n };
  const nonce = Number(relayer_nonce);
  const empty = { type: 'eip1559', chainId: world.network.id, to: relayer.address, nonce, ...fees } as const;
  await rpc(world.url, 'eth_sendRawTransaction', [await relayer.signTransaction(empty)]);
}

/** A transaction of an account that is signed, and then cancelled on chain. */
async function cancelled(to: Address, account: TestAccount): Promise<TransactionRef> {
  const ref = await world.transaction({ to, data: INCREMENT }, { account });
  await world.sign(ref);
  await world.requestCancellation(ref);
  expect(await world.execute(ref, { cancel: true })).toMatchObject({ outcome: { kind: 'cancelled' } });
  expect(await world.record(ref)).toMatchObject({ executionStatus: 'failed', closed: true });
  return ref;
}

function auditOf(ref: TransactionRef): Promise<string[]> {
  return world.db('audit_log').where({ resource_id: ref.transactionId }).orderBy('position').pluck('action');
}

itDeep('finds nothing on a network that has lost no block', async () => {
  const to = await counter();
  await world.execute(await world.transaction({ to, data: INCREMENT }));
  expect(await findLostTransactions()).toEqual([]);
  await world.execute(await world.transaction({ to, data: INCREMENT }));
  expect(await findLostTransactions()).toEqual([]);
});

itDeep('a node that lags behind has lost nothing', async () => {
  const to = await counter();
  const ref = await world.transaction({ to, data: INCREMENT });
  await world.mine();
  const before = await rpc<Hex>(world.url, 'evm_snapshot', []);
  await world.execute(ref);
  const lost = await heightOf(world.url);
  await rpc(world.url, 'evm_revert', [before]);
  expect(await findLostTransactions()).toEqual([]);
  expect(await world.record(ref)).toMatchObject({ executionStatus: 'completed' });
  await growAbove(world.url, lost);
  expect(await findLostTransactions()).toEqual([ref]);
  expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
  expect(await countOf(to)).toBe(1n);
});

test('an endpoint of the signer that has dropped receipts and logs undoes nothing', async () => {
  const account = await world.account();
  const replaced = await cancelled(await counter(), account);
  const proxy = await startRpcProxy(world.url, async (body, pass) => {
    const { id, method } = JSON.parse(body);
    const answer = (result: unknown) => JSON.stringify({ jsonrpc: '2.0', id, result });
    if (method === 'eth_getTransactionReceipt') return answer(null);
    return method === 'eth_getLogs' ? answer([]) : pass();
  });
  try {
    const signer = world.signerWith({ networks: [{ ...world.network, signerRpcUrls: [proxy.url] }] });
    expect(await signer.confirmOutcome(replaced)).toEqual({ outcome: 'cancelled' });
    expect(await world.authorization(replaced)).toMatchObject({ outcome: 'cancelled' });
    const { transactionId } = replaced;
    const asked = { to: await counter(), data: INCREMENT };
    const replacing = await world.transaction(asked, { account, replaces: transactionId });
    const terms = await world.terms(replacing);
    envelopeOf(await signer.signTransaction({ ...replacing, terms }));
    expect(await world.execute(replacing)).toMatchObject({ outcome: { kind: 'executed' } });
  } finally {
    await proxy.stop();
  }
});

describe('a lost block', () => {
  test('is waited for again before its confirmations, and its bytes are sent again', async () => {
    const to = await counter();
    const ref = await world.transaction({ to, data: INCREMENT });
    const back = await remember(world.url);
    const envelopeId = await world.sign(ref);
    const [raw] = await rawOf(ref);
    await rpc(world.url, 'eth_sendRawTransaction', [raw]);
    const deep = world.chainWith({ confirmations: 30 });
    const input = { ...ref, networkId: world.network.id, cancel: false };
    expect(await deep.prepareTransaction(input)).toEqual({ kind: 'inFlight', envelopeId });
    expect(await countOf(to)).toBe(1n);
    await back();
    expect(await countOf(to)).toBe(0n);
    expect(await world.followToEnd(ref, envelopeId)).toMatchObject({ outcome: { kind: 'executed' } });
    await world.execute(ref);
    expect(await rawOf(ref)).toEqual([raw]);
    expect(await countOf(to)).toBe(1n);
  });

  itDeep('has its bytes sent again, however long they were in it', async () => {
    const to = await counter();
    const ref = await world.transaction({ to, data: INCREMENT });
    const back = await remember(world.url);
    const envelopeId = await world.sign(ref);
    const raws = await rawOf(ref);
    // Longer than bytes may be pending.
    const deep = world.chainWith({ confirmations: 30 }, { stuckAfterMs: 100 });
    const input = { ...ref, envelopeId, networkId: world.network.id, reported: null };
    const following = await world.withoutMining(async () => {
      const run = new MockActivityEnvironment().run(deep.followTransaction, input);
      // It cannot be awaited before its end.
      const begun = { end: run };
      await world.pending(1);
      await sleep(100);
      await world.mine(5);
      return begun;
    });
    await until('it is seen in its block', async () => {
      const [attempt] = await world.attempts(ref);
      return (attempt?.confirmations ?? 0) > 0;
    });
    expect(await countOf(to)).toBe(1n);
    await back();
    await until('it is executed again', async () => (await countOf(to)) === 1n);
    await world.mine(30);
    expect(await following.end).toMatchObject({ outcome: { kind: 'executed' } });
    await world.execute(ref);
    expect(await rawOf(ref)).toEqual(raws);
  });

  test('makes a completed transaction execute again once, with the same bytes', async () => {
    const to = await counter();
    const ref = await world.transaction({ to, data: INCREMENT });
    const back = await remember(world.url);
    await world.execute(ref);
    const before = await world.attempts(ref);
    const raws = await rawOf(ref);
    await back();
    expect(await findLostTransactions()).toEqual([ref]);
    expect(await world.record(ref)).toMatchObject({ executionStatus: 'processing', closed: false });
    expect(await world.usage(ref)).toMatchObject([{ status: 'reserved' }]);
    expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await rawOf(ref)).toEqual(raws);
    const [after] = await world.attempts(ref);
    expect(after).toMatchObject({ safe_tx_hash: before[0]?.safe_tx_hash, outcome: 'executed' });
    expect(after?.block_hash).not.toBe(before[0]?.block_hash);
    expect(await countOf(to)).toBe(1n);
    expect(await world.record(ref)).toMatchObject({ executionStatus: 'completed', closed: true });
    expect(await world.usage(ref)).toMatchObject([{ status: 'committed' }]);
    expect(await auditOf(ref)).toEqual([
      'transaction.broadcast',
      'transaction.executed',
      'transaction.reopened',
      'transaction.executed',
    ]);
    expect(await findLostTransactions()).toEqual([]);
  });

  test('ignores an outcome that was read before the reopening', async () => {
    const to = await counter();
    const ref = await world.transaction({ to, data: INCREMENT });
    const back = await remember(world.url);
    const read = await world.execute(ref);
    if (read.kind !== 'decided') throw new Error(`it is ${read.kind}`);
    // The worker stops before its workflow knows that the execution has ended.
    await back();
    expect(await findLostTransactions()).toEqual([ref]);
    const authorization = world.db('authorizations').where({ transaction_id: ref.transactionId });
    await authorization.clone().update({ outcome: 'reverted', block_at: read.outcome.blockTime });
    const reverted = { ...read.outcome, kind: 'reverted', reason: 'it reverted' } as const;
    for (const outcome of [read.outcome, reverted]) {
      await world.finishWith(ref, outcome);
      expect(await world.record(ref)).toMatchObject({ executionStatus: 'processing', closed: false });
    }
    expect(await world.usage(ref)).toMatchObject([{ status: 'reserved' }]);
    await authorization.clone().update({ outcome: null, block_at: null });
    expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed', reopenings: 1 } });
    expect(await world.record(ref)).toMatchObject({ executionStatus: 'completed', closed: true });
    expect(await countOf(to)).toBe(1n);
    expect((await auditOf(ref)).filter((action) => action === 'transaction.executed')).toHaveLength(2);
  });

  test('is found where its outcome is recorded after a search that has found nothing', async () => {
    const to = await counter();
    const ref = await world.transaction({ to, data: INCREMENT });
    const back = await remember(world.url);
    const read = await world.followToEnd(ref, await world.sign(ref));
    if (read.kind !== 'decided') throw new Error(`it is ${read.kind}`);
    await back();
    expect(await findLostTransactions()).toEqual([]);
    await world.mine(3);
    expect(await findLostTransactions()).toEqual([]);
    await world.finish(ref, read);
    expect(await world.record(ref)).toMatchObject({ executionStatus: 'completed' });
    expect(await findLostTransactions()).toEqual([ref]);
    expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await countOf(to)).toBe(1n);
    expect(await findLostTransactions()).toEqual([]);
  });

  test('turns a failure into a success, and a success into a failure', async () => {
    const to = await counter();
    const failing = await world.transaction({ to, data: number('demand', 1n) });
    const working = await world.transaction({ to, data: number('demand', 0n) });
    const failedTerms = {
      ...(await world.terms(working)),
      safeTxGas: '60000',
      gas: '300000',
    };
    const back = await remember(world.url);
    // It would be refused now: signed on the terms of another one, by a signer that cannot simulate it, it fails inside.
    const unasked = world.signerWith({ networks: [{ ...world.network, signerRpcUrls: [] }] });
    const envelopeId = envelopeOf(await unasked.signTransaction({ ...failing, terms: failedTerms }));
    const failed = await world.followToEnd(failing, envelopeId);
    expect(failed).toMatchObject({
      outcome: { kind: 'reverted', reason: expect.stringContaining('too low') },
    });
    if (failed.kind === 'decided') await world.finish(failing, failed);
    expect(await world.record(failing)).toMatchObject({ executionStatus: 'failed' });
    expect(await world.usage(failing)).toMatchObject([{ status: 'released' }]);
    await back();
    await sendAsFunder(world.url, { to, data: number('set', 1n) });
    expect(await findLostTransactions()).toEqual([failing]);
    expect(await world.usage(failing)).toMatchObject([{ status: 'reserved' }]);
    expect(world.journal.outcomeOf(failing.transactionId)).toMatchObject({ outcome: 'reverted' });
    const again = await remember(world.url);
    // Anybody has sent its bytes again: it is executed before the signer has read that it was not.
    await sendAsFunder(world.url, await callOf(failing));
    // Confirmed at the first look.
    await world.mine();
    expect(await world.execute(failing)).toMatchObject({ outcome: { kind: 'executed', reversed: true } });
    // What the signer had read no longer counts, in its journal either: the amount is spent.
    expect(world.journal.outcomeOf(failing.transactionId)).toMatchObject({ outcome: 'executed' });
    expect(await world.record(failing)).toMatchObject({ executionStatus: 'completed', failure: null });
    await again();
    await sendAsFunder(world.url, { to, data: number('set', 0n) });
    expect(await findLostTransactions()).toEqual([failing]);
    expect(await world.prepare(failing)).toMatchObject({ kind: 'confirming', unconfirmed: true });
    // Undecided, it counts for as long as that lasts.
    expect(await world.signer.confirmOutcome(failing)).toEqual({ outcome: null });
    expect(world.journal.outcomeOf(failing.transactionId)).toMatchObject({ outcome: null });
    expect(await world.authorization(failing)).toMatchObject({ outcome: null, counted_from: Infinity });
    expect(await world.prepare(failing)).toMatchObject({ kind: 'inFlight' });
    expect(await world.execute(failing)).toMatchObject({ outcome: { kind: 'reverted' } });
    expect(await world.record(failing)).toMatchObject({ executionStatus: 'failed', closed: true });
    expect(await world.usage(failing)).toMatchObject([{ status: 'released' }]);
    expect(await world.attempts(failing)).toHaveLength(1);
    expect(await world.execute(working)).toMatchObject({ outcome: { kind: 'executed' } });
  });

  test('does not count for a signer that has read an outcome in it and records it late', async () => {
    const account = await world.account();
    const to = await counter();
    const back = await remember(world.url);
    const ref = await cancelled(to, account);
    let letPass: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      letPass = resolve;
    });
    let isHeld = false;
    const proxy = await startRpcProxy(world.url, async (body, pass) => {
      const text = await pass();
      // The last thing that it asks: when the block was made.
      if (!body.includes('eth_getBlockByHash')) return text;
      isHeld = true;
      await held;
      return text;
    });
    try {
      const signer = world.signerWith({ networks: [{ ...world.network, signerRpcUrls: [proxy.url] }] });
      const late = signer.confirmOutcome(ref);
      await until('it has read the outcome', async () => isHeld);
      await back();
      expect(await findLostTransactions()).toEqual([ref]);
      expect(await world.signer.confirmOutcome(ref)).toEqual({ outcome: null });
      letPass();
      // Unreachable, where a slow machine has let its request take too long.
      expect(await late).not.toHaveProperty('outcome', 'cancelled');
      expect(world.journal.outcomeOf(ref.transactionId)).toMatchObject({ outcome: null });
      expect(await world.authorization(ref)).toMatchObject({ outcome: null });
    } finally {
      letPass();
      await proxy.stop();
    }
    await world.execute(ref, { cancel: true });
  });

  test('has its outcome read again before what replaces its transaction is signed', async () => {
    const account = await world.account();
    const to = await counter();
    const back = await remember(world.url);
    const replaced = await cancelled(to, account);
    const replacing = await world.transaction(
      { to, data: INCREMENT },
      { account, replaces: replaced.transactionId },
    );
    const terms = await world.terms(replacing);
    await back();
    // Nobody has noticed yet: its bytes can still be executed.
    expect(await world.signer.signTransaction({ ...replacing, terms })).toEqual({
      held: expect.stringContaining('whose outcome the signer has not read yet'),
    });
    expect(await world.attempts(replacing)).toEqual([]);
    expect(await findLostTransactions()).toEqual([replaced]);
    await world.execute(replaced, { cancel: true });
    expect(await world.execute(replacing)).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await countOf(to)).toBe(1n);
  });

  test('holds back what comes after it until it is executed again', async () => {
    const to = await counter();
    const account = await world.account();
    const lost = await world.transaction({ to, data: INCREMENT }, { account });
    const back = await remember(world.url);
    await world.execute(lost);
    await back();
    const later = await world.transaction({ to, data: INCREMENT }, { account });
    // Nobody has noticed yet, and the relayer's nonce is used by something else: its first envelope reverts.
    await useNonceOf(lost);
    const envelopeId = await world.sign(later);
    expect(await world.followToEnd(later, envelopeId)).toEqual({ kind: 'dropped' });
    expect(await world.prepare(later)).toEqual({
      kind: 'confirming',
      message: expect.stringContaining('waiting for an earlier transaction of the account'),
    });
    expect(await findLostTransactions()).toEqual([lost]);
    for (const ref of [lost, later]) {
      expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
    }
    expect(await countOf(to)).toBe(2n);
  });

  itDeep('is only recorded when another block holds the same transaction', async () => {
    const to = await counter();
    const ref = await world.transaction({ to, data: INCREMENT });
    const back = await remember(world.url);
    await world.execute(ref);
    const [before] = await world.attempts(ref);
    const [spent] = await world.usage(ref);
    await back();
    await sendAsFunder(world.url, await callOf(ref));
    expect(await findLostTransactions()).toEqual([]);
    const [after] = await world.attempts(ref);
    expect(after).toMatchObject({ outcome: 'executed' });
    expect(after?.block_hash).not.toBe(before?.block_hash);
    expect(after?.outcome_hash).not.toBe(before?.outcome_hash);
    const [moved] = await world.usage(ref);
    expect(moved?.status).toBe('committed');
    expect(moved?.block_at?.getTime()).toBeGreaterThan(requireRow(spent?.block_at).getTime());
    expect(await findLostTransactions()).toEqual([]);
    // The relayer's own, that carried it, is of no use any more and holds up nobody.
    expect(await world.execute(await world.transaction({ to, data: INCREMENT }))).toMatchObject({
      outcome: { kind: 'executed' },
    });
  });

  itDeep(
    'is recovered for many transactions of many accounts, each once',
    async () => {
      const to = await counter();
      const accounts = await Promise.all([1, 2].map(() => world.account()));
      const refs = await Promise.all(
        Array.from({ length: 6 }, (_, i) => {
          const account = accounts[i % 2];
          return world.transaction({ to, data: INCREMENT }, account ? { account } : {});
        }),
      );
      const back = await remember(world.url);
      await Promise.all(refs.map((ref) => world.execute(ref)));
      await back();
      const reopened = await findLostTransactions();
      expect(reopened.map(({ transactionId }) => transactionId).sort()).toEqual(
        refs.map(({ transactionId }) => transactionId).sort(),
      );
      const ended = await Promise.all(reopened.toReversed().map((ref) => world.execute(ref)));
      expect(ended).toEqual(ended.map(() => expect.objectContaining({ kind: 'decided' })));
      expect(await countOf(to)).toBe(6n);
      for (const ref of refs) expect(await world.attempts(ref)).toHaveLength(1);
    },
    60_000,
  );
});

describe('a payment whose block is lost, and whose cancellation is requested then', () => {
  /** Executed, lost and reopened; an operator cancels it. */
  async function lostAndCancelled(to: Address): Promise<{ ref: TransactionRef; envelopeId: string }> {
    const ref = await world.transaction({ to, data: INCREMENT });
    const back = await remember(world.url);
    await world.execute(ref);
    await back();
    expect(await findLostTransactions()).toEqual([ref]);
    await world.requestCancellation(ref);
    const { id } = requireRow(await world.envelopes(ref).first());
    return { ref, envelopeId: String(id) };
  }

  test('is cancelled at the relayer nonce of its lost bytes, which are not sent', async () => {
    const to = await counter();
    const { ref, envelopeId } = await lostAndCancelled(to);
    expect(await world.prepare(ref, true)).toMatchObject({
      kind: 'needsEnvelope',
      cancels: true,
      attempted: true,
      terms: { replaces: envelopeId },
    });
    expect(await world.execute(ref, { cancel: true })).toMatchObject({ outcome: { kind: 'cancelled' } });
    expect(await countOf(to)).toBe(0n);
    const [payment, cancellation] = await world.envelopes(ref);
    expect(cancellation?.relayer_nonce).toBe(payment?.relayer_nonce);
    expect(await world.record(ref)).toMatchObject({ executionStatus: 'failed', closed: true });
  });

  test('is not sent ahead of what else its relayer sends', async () => {
    const to = await counter();
    const { ref } = await lostAndCancelled(to);
    const later = await world.transaction({ to, data: number('set', 40n) });
    const executed = world.execute(later);
    await until('the later one is sent', async () =>
      (await world.envelopes(later)).some(({ sent_at }) => sent_at !== null),
    );
    expect(await countOf(to)).toBe(0n);
    expect(await world.execute(ref, { cancel: true })).toMatchObject({ outcome: { kind: 'cancelled' } });
    expect(await executed).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await countOf(to)).toBe(40n);
  });

  test('holds up nobody while the signer does not sign its cancellation', async () => {
    const to = await counter();
    const { ref } = await lostAndCancelled(to);
    const later = await world.transaction({ to, data: number('set', 40n) });
    const mining = setInterval(() => void world.mine().catch(() => undefined), 300);
    try {
      expect(await world.execute(later)).toMatchObject({ outcome: { kind: 'executed' } });
    } finally {
      clearInterval(mining);
    }
    expect(await countOf(to)).toBe(40n);
    expect(await world.execute(ref, { cancel: true })).toMatchObject({ outcome: { kind: 'cancelled' } });
    expect(await countOf(to)).toBe(40n);
  }, 30_000);

  test('is not sent by whoever still follows it, or by one who has not heard of the request', async () => {
    const to = await counter();
    const { ref, envelopeId } = await lostAndCancelled(to);
    await world
      .db('chain_envelopes')
      .where({ id: BigInt(envelopeId) })
      .update({ outcome: null, decided_at: null });
    expect(await world.follow(ref, envelopeId)).toEqual({ kind: 'dropped' });
    expect(await world.prepare(ref, false)).toMatchObject({ kind: 'needsEnvelope', cancels: true });
    const dead = world.chainWith({ rpcUrls: ['http://127.0.0.1:1'] });
    const input = { ...ref, networkId: world.network.id, cancel: false };
    expect(await dead.prepareTransaction(input)).toMatchObject({ kind: 'confirming' });
    expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'cancelled' } });
    expect(await countOf(to)).toBe(0n);
  });

  test('is not sent again by whoever follows it at the moment of the request', async () => {
    const to = await counter();
    const ref = await world.transaction({ to, data: INCREMENT });
    const envelopeId = await world.sign(ref);
    await world.withoutMining(async () => {
      const following = world.followToEnd(ref, envelopeId);
      await world.pending(1);
      await world.requestCancellation(ref);
      const { transaction_hash } = requireRow(await world.envelopes(ref).first());
      await rpc(world.url, 'anvil_dropTransaction', [transaction_hash]);
      expect(await following).toEqual({ kind: 'dropped' });
      expect(await rpc(world.url, 'txpool_status', [])).toMatchObject({ pending: '0x0', queued: '0x0' });
    });
    expect(await world.execute(ref, { cancel: true })).toMatchObject({ outcome: { kind: 'cancelled' } });
    expect(await countOf(to)).toBe(0n);
  }, 30_000);

  test('in two lost envelopes is cancelled at the lower nonce of its relayer', async () => {
    const to = await counter();
    const ref = await world.transaction({ to, data: INCREMENT });
    const back = await remember(world.url);
    const short = await world.signShortOfGas(ref);
    expect(await world.followToEnd(ref, short)).toEqual({ kind: 'reverted' });
    await world.execute(ref);
    expect(await countOf(to)).toBe(1n);
    await back();
    expect(await findLostTransactions()).toEqual([ref]);
    await world.requestCancellation(ref);
    expect(await world.prepare(ref, true)).toMatchObject({ cancels: true, terms: { replaces: short } });
    expect(await world.execute(ref, { cancel: true })).toMatchObject({ outcome: { kind: 'cancelled' } });
    expect(await countOf(to)).toBe(0n);
    // What its higher nonce carried is of no use, and holds up nobody.
    const later = await world.transaction({ to, data: number('set', 40n) });
    expect(await world.execute(later)).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await countOf(to)).toBe(40n);
  });

  test('waits for a higher ceiling where its bytes pay the highest fee', async () => {
    const to = await counter();
    const { ref } = await lostAndCancelled(to);
    const { max_fee_per_gas } = requireRow(await world.envelopes(ref).first());
    const tight = world.chainWith({ maxFeePerGas: BigInt(max_fee_per_gas) });
    const input = { ...ref, networkId: world.network.id, cancel: true };
    expect(await tight.prepareTransaction(input)).toEqual({
      kind: 'confirming',
      message: expect.stringContaining('ceiling'),
    });
    expect(await world.execute(ref, { cancel: true })).toMatchObject({ outcome: { kind: 'cancelled' } });
    expect(await countOf(to)).toBe(0n);
  });
});

itDeep(
  'a cancellation whose block is lost is sent again: the bytes that it cancelled never count',
  async () => {
    const to = await counter();
    const account = await world.account();
    const back = await remember(world.url);
    const ref = await cancelled(to, account);
    await back();
    expect(await findLostTransactions()).toEqual([ref]);
    const later = await world.transaction({ to, data: INCREMENT }, { account });
    expect(await world.execute(later)).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'cancelled' } });
    expect(await countOf(to)).toBe(1n);
    expect(await world.nonceOf(account)).toBe(2n);
    expect(await world.attempts(ref)).toMatchObject([
      { kind: 'transaction', outcome: 'cancelled' },
      { kind: 'cancellation', outcome: 'executed' },
    ]);
    expect(await findLostTransactions()).toEqual([]);
  },
);
