/** @deep */
import { setTimeout as sleep } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import {
  type Address,
  concatHex,
  encodeFunctionData,
  formatEther,
  type Hex,
  keccak256,
  numberToHex,
  parseAbi,
  parseTransaction,
} from 'viem';
import { createChainActivities } from '../../activities/chainActivities';
import { createRelayerContext, createRelayerReads } from '../../activities/relayer/relayerContext';
import { createPrepareNewTransaction } from '../../activities/transactions/prepareNew';
import { createChainClients } from '../../src/chain/clients';
import { requireRow } from '../../src/db/rows';
import type { TransactionRef } from '../../src/domain/transaction';
import type { ExecutionResult } from '../../src/domain/transactionState';
import { setBaseFee } from '../support/baseFee';
import { aHash } from '../support/builders';
import { COUNTER, MULTICALL, multicallData, TOKENS } from '../support/contracts';
import { inSlot } from '../support/inSlot';
import { startRpcProxy } from '../support/rpcProxy';
import { rpc } from '../support/stack';
import { itDeep } from '../support/suite';
import { transferData } from '../support/transactions';
import { until } from '../support/until';
import { ETHER, envelopeOf, GWEI, type TestAccount, TransactionWorld } from './transactionWorld';
import { sendAsFunder } from './wallets';

const RECIPIENT: Address = '0x00000000000000000000000000000000000A11ce';

let world: TransactionWorld;

beforeAll(async () => {
  world = await TransactionWorld.start(41_031);
});

afterAll(() => world?.stop());

beforeEach(() => world.fundRelayer());

const counterAbi = parseAbi([
  'function increment()',
  'function set(uint256)',
  'function demand(uint256)',
  'function fail()',
  'function value() view returns (uint256)',
]);

function call(functionName: 'increment' | 'fail'): Hex;
function call(functionName: 'set' | 'demand', argument: bigint): Hex;
function call(functionName: 'increment' | 'fail' | 'set' | 'demand', argument?: bigint): Hex {
  const args = argument === undefined ? [] : [argument];
  return encodeFunctionData({ abi: counterAbi, functionName, args } as never);
}

let seed = 0;
function counter(): Promise<Address> {
  seed += 1;
  return world.contract(`counter ${seed}`, COUNTER);
}

function countOf(address: Address): Promise<bigint> {
  return world.client.rpc.readContract({ address, abi: counterAbi, functionName: 'value' });
}

function token(kind: keyof typeof TOKENS, account: TestAccount, amount = 100n): Promise<Address> {
  seed += 1;
  return world.contract(`token ${seed}`, TOKENS[kind], { [account.address]: amount });
}

const transfer = (amount = 10n) => transferData(RECIPIENT, amount) as Hex;

/** The call of the account that an envelope carries, as anyone who has seen it can send it. */
async function bytesOf(envelopeId: string): Promise<{ to: Address; data: Hex }> {
  const { raw_transaction } = requireRow(
    await world
      .db('chain_envelopes')
      .where({ id: BigInt(envelopeId) })
      .first(),
  );
  const { to, data } = parseTransaction(raw_transaction as Hex);
  return { to: to as Address, data: data as Hex };
}

describe('a transaction', () => {
  test('is signed once, stored before it is sent, and executed when it is confirmed', async () => {
    const account = await world.account();
    const ref = await world.transaction({ to: RECIPIENT, value: 5n }, { account });
    const before = await world.balanceOf(RECIPIENT);
    const envelopeId = await world.sign(ref);
    const [stored] = await world.envelopes(ref);
    expect(stored).toMatchObject({ sent_at: null, outcome: null, relayer_address: world.relayer });
    expect(keccak256(stored?.raw_transaction as Hex)).toBe(stored?.transaction_hash);
    expect(await world.prepare(ref)).toEqual({ kind: 'inFlight', envelopeId });
    const followed = await world.followToEnd(ref, envelopeId);
    expect(followed).toEqual({
      kind: 'decided',
      outcome: {
        kind: 'executed',
        transactionHash: stored?.transaction_hash,
        blockNumber: expect.stringMatching(/^\d+$/),
        blockHash: expect.stringMatching(/^0x/),
        blockTime: expect.stringMatching(/Z$/),
        fee: expect.stringMatching(/^[1-9]\d+$/),
      },
    });
    expect(await world.balanceOf(RECIPIENT)).toBe(before + 5n);
    expect(await world.balanceOf(account.address)).toBe(ETHER - 5n);
    // Whoever asks again finds the same outcome.
    expect(await world.prepare(ref)).toEqual(followed);
    expect(await world.followToEnd(ref, envelopeId)).toEqual(followed);
    if (followed.kind === 'decided') await world.finish(ref, followed);
    expect(await world.record(ref)).toMatchObject({
      executionStatus: 'completed',
      chain: { transactionHash: stored?.transaction_hash, confirmations: 1 },
    });
    expect(await world.usage(ref)).toMatchObject([{ status: 'committed' }]);
    expect(await world.envelopes(ref)).toMatchObject([{ outcome: 'mined', sent_at: expect.any(Date) }]);
  });

  test('has one attempt and one envelope when it is signed twice, concurrently or in sequence', async () => {
    const ref = await world.transaction({ to: RECIPIENT, value: 1n });
    const asked = { ...ref, terms: await world.terms(ref) };
    const { signTransaction } = world.signer;
    const results = await Promise.all([signTransaction(asked), signTransaction(asked)]);
    results.push(await signTransaction(asked));
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
    expect(await world.attempts(ref)).toHaveLength(1);
    expect(await world.envelopes(ref)).toHaveLength(1);
    expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
  });

  test('records its first broadcast once, and its confirmations as they come', async () => {
    const to = await counter();
    const ref = await world.transaction({ to, data: call('increment') });
    const slow = world.chainWith({ confirmations: 3 });
    const envelopeId = await world.sign(ref);
    const broadcasts = () =>
      world.db('audit_log').where({ resource_id: ref.transactionId, action: 'transaction.broadcast' });
    expect(await broadcasts()).toHaveLength(0);
    const followed = world.follow(ref, envelopeId);
    await until('it is broadcast', async () => (await broadcasts()).length === 1);
    await followed;
    const [attempt] = await world.attempts(ref);
    await world
      .db('chain_attempts')
      .where({ id: requireRow(attempt).id })
      .update({ confirmations: 0 });
    const seen = await slow.prepareTransaction({ ...ref, networkId: world.network.id, cancel: false });
    expect(seen.kind).toBe('confirming');
    const { number } = await world.client.rpc.getBlock();
    const { blockNumber } = ((await world.prepare(ref)) as { outcome: { blockNumber: string } }).outcome;
    expect((await world.record(ref)).chain?.confirmations).toBe(
      Math.min(1, Number(number - BigInt(blockNumber))),
    );
    await world.mine(3);
    expect(
      await slow.prepareTransaction({ ...ref, networkId: world.network.id, cancel: false }),
    ).toMatchObject({ kind: 'decided' });
    expect(await world.record(ref)).toMatchObject({ chain: { confirmations: 3 } });
    await world.execute(ref);
    expect(await broadcasts()).toMatchObject([
      { details: { transactionHash: expect.stringMatching(/^0x/), accountNonce: '0' } },
    ]);
  });

  test('leaves its process to others while it gets its confirmations', async () => {
    const ref = await world.transaction({ to: RECIPIENT, value: 1n });
    const envelopeId = await world.sign(ref);
    const context = createRelayerContext({
      db: world.serviceDb,
      chains: createChainClients([{ ...world.network, confirmations: 12 }]),
      pollMs: 20,
      withoutSlot: inSlot,
      stuckAfterMs: 1_500,
    });
    const { heads } = context;
    let waits = 0;
    const changed: typeof heads.changed = (...wait) => {
      waits += 1;
      return heads.changed(...wait);
    };
    const { followTransaction } = createChainActivities({
      ...{ ...context, heads: { ...heads, changed } },
      ...{ maxGas: 5_000_000n, scanners: new Map() },
    });
    const input = { ...ref, envelopeId, networkId: world.network.id, reported: null };
    const following = new MockActivityEnvironment().run(followTransaction, input);
    await until('it waits', async () => waits > 0);
    await world.mine();
    waits = 0;
    await sleep(500);
    expect(waits).toBeLessThan(100);
    await world.mine(12);
    expect(await following).toMatchObject({ outcome: { kind: 'executed' } });
    await world.execute(ref);
  });

  test('is not signed again while its endpoint has a node that lags', async () => {
    let hidden = Number.POSITIVE_INFINITY;
    const lagging = await startRpcProxy(world.url, async (body, pass) => {
      const { id, method } = JSON.parse(body);
      const answer = (result: unknown) => JSON.stringify({ jsonrpc: '2.0', id, result });
      if (method === 'eth_getLogs' && hidden >= 0) return answer([]);
      if (method !== 'eth_getTransactionReceipt' || hidden < 0) return pass();
      hidden -= 1;
      return hidden < 0 ? pass() : answer(null);
    });
    try {
      const there = world.chainWith({ rpcUrls: [lagging.url] });
      const ref = await world.transaction({ to: RECIPIENT, value: 1n });
      const envelopeId = await world.sign(ref);
      const [stored] = await world.envelopes(ref);
      await rpc(world.url, 'eth_sendRawTransaction', [stored?.raw_transaction]);
      await world.mine();
      // Its first node has no receipt yet, the second has.
      hidden = 1;
      const input = { ...ref, envelopeId, networkId: world.network.id, reported: null };
      const followed = await new MockActivityEnvironment().run(there.followTransaction, input);
      expect(followed).toMatchObject({ outcome: { kind: 'executed' } });
      hidden = Number.POSITIVE_INFINITY;
      expect(await there.prepareTransaction({ ...input, cancel: false })).toEqual({
        kind: 'confirming',
        message: expect.stringContaining('to show what has used nonce 0 of the account'),
      });
      await world.execute(ref);
      expect(await world.envelopes(ref)).toHaveLength(1);
    } finally {
      await lagging.stop();
    }
  });

  itDeep('accepts calldata in upper case', async () => {
    const to = await counter();
    const data = `0x${call('set', 0xabcdefn).slice(2).toUpperCase()}` as Hex;
    expect(await world.execute(await world.transaction({ to, data }))).toMatchObject({ kind: 'decided' });
    expect(await countOf(to)).toBe(0xabcdefn);
  });
});

describe('several in flight', () => {
  test('of one account follow each other in one block, in the order of their nonces', async () => {
    const account = await world.account();
    const to = await counter();
    const refs = await Promise.all(
      [1n, 2n, 3n, 4n, 5n].map((n) => world.transaction({ to, data: call('set', n) }, { account })),
    );
    const order: string[] = [];
    const ended = await world.withoutMining(async () => {
      for (const ref of refs) order.push(await world.sign(ref));
      const following = refs.map((ref, i) => world.followToEnd(ref, order[i] ?? ''));
      await world.pending(5);
      await world.mine();
      await world.mine();
      return Promise.all(following);
    });
    const outcomes = ended.map((one) => (one.kind === 'decided' ? one.outcome : undefined));
    expect(outcomes.map((one) => one?.kind)).toEqual(Array(5).fill('executed'));
    expect(new Set(outcomes.map((one) => one?.blockNumber)).size).toBe(1);
    expect(await countOf(to)).toBe(5n);
    for (const [i, ref] of refs.entries()) {
      const [attempt] = await world.attempts(ref);
      expect(attempt?.safe_nonce).toBe(BigInt(i));
    }
  });

  itDeep(
    'of several accounts and one relayer are all included, signed and sent at once',
    async () => {
      const to = await counter();
      const accounts = await Promise.all([1, 2, 3].map(() => world.account()));
      const refs = await Promise.all(
        Array.from({ length: 30 }, (_, i) => {
          const account = accounts[i % 3];
          return world.transaction({ to, data: call('increment') }, account ? { account } : {});
        }),
      );
      const ended = await Promise.all(refs.map((ref) => world.execute(ref)));
      expect(ended).toEqual(ended.map(() => expect.objectContaining({ kind: 'decided' })));
      expect(await countOf(to)).toBe(30n);
      for (const account of accounts) expect(await world.nonceOf(account)).toBe(10n);
      const envelopes = await world.db('chain_envelopes').pluck('relayer_nonce');
      expect(new Set(envelopes.map(String)).size).toBe(envelopes.length);
    },
    60_000,
  );

  test('are not delayed by one whose inner call fails, with its reason', async () => {
    const account = await world.account();
    const to = await counter();
    await world.execute(await world.transaction({ to, data: call('set', 1n) }));
    const refs = await Promise.all([
      world.transaction({ to, data: call('set', 0n) }, { account }),
      world.transaction({ to, data: call('demand', 1n) }, { account }),
      world.transaction({ to, data: call('increment') }, { account }),
    ]);
    const ended = await world.withoutMining(async () => {
      const following = [];
      // Each is tried on the chain of now, where the first has not set the counter to 0 yet.
      for (const ref of refs) following.push(world.followToEnd(ref, await world.sign(ref)));
      await world.pending(3);
      await world.mine();
      await world.mine();
      return Promise.all(following);
    });
    expect(ended).toMatchObject([
      { outcome: { kind: 'executed' } },
      { outcome: { kind: 'reverted', reason: 'the call reverted with "the counter is too low"' } },
      { outcome: { kind: 'executed' } },
    ]);
    const [, failing] = refs;
    if (!failing) throw new Error('there is none');
    await world.execute(failing);
    expect(await world.record(failing)).toMatchObject({
      executionStatus: 'failed',
      failure: {
        code: 'reverted',
        message: expect.stringContaining('too low'),
        transactionHash: expect.any(String),
      },
    });
    expect(await world.usage(failing)).toMatchObject([{ status: 'released' }]);
    expect(await world.record(failing)).toMatchObject({ closed: true });
    // Whatever the records say, only the same bytes are ever signed for it.
    await world.db('approvals').where({ id: failing.transactionId }).update({
      execution_status: 'processing',
      closed_at: null,
      frozen: null,
    });
    await world.execute(await world.transaction({ to, data: call('set', 7n) }));
    expect(await world.execute(failing)).toMatchObject({ outcome: { kind: 'reverted' } });
    expect(await world.attempts(failing)).toHaveLength(1);
  });

  test('one that is signed is not shown as failed before the signer has read that', async () => {
    const ref = await world.transaction({ to: RECIPIENT, value: 1n });
    await world.sign(ref);
    const block = {
      transactionHash: aHash(),
      blockNumber: '1',
      blockHash: aHash(),
      blockTime: new Date().toISOString(),
    };
    const results: ExecutionResult[] = [
      { status: 'failed', failure: { code: 'rpc', message: 'so they say' } },
      { status: 'blocked', failure: { code: 'policy', message: 'so they say' } },
      { status: 'decided', outcome: { ...block, kind: 'reverted', reason: 'so they say' } },
      { status: 'decided', outcome: { ...block, kind: 'cancelled' } },
    ];
    for (const result of results) {
      await world.end(ref, result);
      const open = { executionStatus: 'processing', failure: null, closed: false };
      expect(await world.record(ref)).toMatchObject(open);
    }
    expect(await world.signer.confirmOutcome(ref)).toEqual({ outcome: null });
    await world.execute(ref);
    expect(await world.record(ref)).toMatchObject({ executionStatus: 'completed', closed: true });
  });

  test('one that is mined gets no other envelope before its outcome is recorded', async () => {
    const account = await world.account();
    const first = await world.transaction({ to: RECIPIENT, value: 1n }, { account });
    const second = await world.transaction({ to: RECIPIENT, value: 2n }, { account });
    // By these terms the nonce of the first is not used yet.
    const terms = await world.terms(second);
    const mined = await world.followToEnd(first, await world.sign(first));
    if (mined.kind !== 'decided') throw new Error(JSON.stringify(mined));
    await world.sign(second, terms);
    expect(await world.envelopes(first)).toMatchObject([{ outcome: 'mined' }]);
    await world.finish(first, mined);
    expect(await world.execute(second)).toMatchObject({ outcome: { kind: 'executed' } });
  });

  test('one whose envelope reverts completely gets another before later ones', async () => {
    const account = await world.account();
    const to = await counter();
    const first = await world.transaction({ to, data: call('set', 1n) }, { account });
    const second = await world.transaction({ to, data: call('set', 2n) }, { account });
    const firstId = await world.signShortOfGas(first);
    const secondId = await world.sign(second);
    expect(await world.followToEnd(first, firstId)).toEqual({ kind: 'reverted' });
    // It was not what the second one carries that failed.
    expect(await world.followToEnd(second, secondId)).toEqual({ kind: 'dropped' });
    expect(await world.execute(second)).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await world.execute(first)).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await countOf(to)).toBe(2n);
    for (const ref of [first, second]) {
      expect(await world.attempts(ref)).toHaveLength(1);
      expect(await world.envelopes(ref)).toMatchObject([{ outcome: 'reverted' }, { outcome: 'mined' }]);
    }
  });
});

describe('an envelope', () => {
  test('that reverts completely is followed by one with the same attempt and more gas', async () => {
    const ref = await world.transaction({ to: RECIPIENT, value: 3n });
    const { gas } = await world.terms(ref);
    expect(await world.followToEnd(ref, await world.signShortOfGas(ref))).toEqual({ kind: 'reverted' });
    const again = await world.prepare(ref);
    if (again.kind !== 'needsEnvelope') throw new Error(JSON.stringify(again));
    expect(again).toMatchObject({ attempted: true, cancels: false });
    expect(BigInt(again.terms.gas)).toBeGreaterThan(BigInt(gas));
    expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
    const [first, second] = await world.envelopes(ref);
    expect(second?.attempt_id).toBe(first?.attempt_id);
    expect(second?.relayer_nonce).toBe(requireRow(first).relayer_nonce + 1n);
    expect(await world.attempts(ref)).toHaveLength(1);
  });

  test('that is stuck is replaced at its nonce with a higher fee, bounded by the ceiling', async () => {
    const ref = await world.transaction({ to: RECIPIENT, value: 3n });
    const firstId = await world.sign(ref);
    await setBaseFee(world.url, 900n * GWEI);
    const mining = setInterval(() => void world.mine().catch(() => undefined), 400);
    try {
      const stuck = await world.followToEnd(ref, firstId);
      if (stuck.kind !== 'stuck') throw new Error(JSON.stringify(stuck));
      expect(stuck.cancels).toBe(false);
      const raised = await world.signer.signTransaction({ ...ref, terms: stuck.terms });
      // Asked again for the same replacement, it answers the one it made.
      expect(await world.signer.signTransaction({ ...ref, terms: stuck.terms })).toEqual(raised);
      expect(await world.followToEnd(ref, envelopeOf(raised))).toMatchObject({ kind: 'decided' });
    } finally {
      clearInterval(mining);
      await setBaseFee(world.url, 1n);
    }
    const [first, second] = await world.envelopes(ref);
    expect(second).toMatchObject({
      relayer_nonce: first?.relayer_nonce,
      attempt_id: first?.attempt_id,
      outcome: 'mined',
    });
    expect(first?.outcome).toBe('dropped');
    expect(BigInt(requireRow(second).max_fee_per_gas)).toBeGreaterThan(
      BigInt(requireRow(first).max_fee_per_gas),
    );
  }, 60_000);

  test('that pays less than the base fee is replaced, although no block comes', async () => {
    const ref = await world.transaction({ to: RECIPIENT, value: 3n });
    const envelopeId = await world.sign(ref);
    await setBaseFee(world.url, 900n * GWEI);
    try {
      const stuck = await world.followToEnd(ref, envelopeId);
      if (stuck.kind !== 'stuck') throw new Error(JSON.stringify(stuck));
      const raised = await world.signer.signTransaction({ ...ref, terms: stuck.terms });
      expect(await world.followToEnd(ref, envelopeOf(raised))).toMatchObject({ kind: 'decided' });
    } finally {
      await setBaseFee(world.url, 1n);
    }
  });

  test('is pending from when a node has it: an outage before does not raise its fee at once', async () => {
    const ref = await world.transaction({ to: RECIPIENT, value: 3n });
    const envelopeId = await world.sign(ref);
    await setBaseFee(world.url, 900n * GWEI);
    const stuckAfterMs = 1_500;
    const outageUntil = performance.now() + 2 * stuckAfterMs;
    let sentAt = Number.POSITIVE_INFINITY;
    const proxy = await startRpcProxy(world.url, async (body, pass) => {
      if (performance.now() < outageUntil) return undefined;
      if (body.includes('eth_sendRawTransaction')) sentAt = Math.min(sentAt, performance.now());
      return pass();
    });
    try {
      const later = world.chainWith({ rpcUrls: [proxy.url] }, { stuckAfterMs });
      const input = { ...ref, envelopeId, networkId: world.network.id, reported: null };
      expect(await new MockActivityEnvironment().run(later.followTransaction, input)).toMatchObject({
        kind: 'stuck',
      });
      expect(performance.now() - sentAt).toBeGreaterThanOrEqual(stuckAfterMs);
    } finally {
      await proxy.stop();
      await setBaseFee(world.url, 1n);
    }
    expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
  }, 30_000);

  itDeep(
    'at the fee ceiling is reported as stuck, and is included when gas is cheaper',
    async () => {
      const ref = await world.transaction({ to: RECIPIENT, value: 3n });
      const tight = world.chainWith({ maxFeePerGas: BigInt((await world.terms(ref)).maxFeePerGas) });
      const envelopeId = await world.sign(ref);
      await setBaseFee(world.url, 900n * GWEI);
      const mining = setInterval(() => void world.mine().catch(() => undefined), 400);
      try {
        const waiting = await new MockActivityEnvironment().run(tight.followTransaction, {
          ...ref,
          envelopeId,
          networkId: world.network.id,
          reported: null,
        });
        // Our words, or those of the node, which may refuse the bytes first.
        expect(waiting).toMatchObject({
          kind: 'waiting',
          message: expect.stringMatching(/ceiling|less than block base fee/),
        });
      } finally {
        clearInterval(mining);
        await setBaseFee(world.url, 1n);
      }
      expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
    },
    60_000,
  );

  itDeep(
    'that the node has dropped is sent again, with the same bytes',
    async () => {
      const ref = await world.transaction({ to: RECIPIENT, value: 3n });
      await world.withoutMining(async () => {
        const envelopeId = await world.sign(ref);
        const patient = world.chainWith({}, { stuckAfterMs: 60_000 });
        const followed = new MockActivityEnvironment().run(patient.followTransaction, {
          ...ref,
          envelopeId,
          networkId: world.network.id,
          reported: null,
        });
        await world.pending(1);
        const { transaction_hash } = requireRow(await world.envelopes(ref).first());
        await rpc(world.url, 'anvil_dropTransaction', [transaction_hash]);
        await world.pending(1);
        await world.mine();
        await world.mine();
        expect(await followed).toMatchObject({
          outcome: { kind: 'executed', transactionHash: transaction_hash },
        });
      });
      expect(await world.envelopes(ref)).toHaveLength(1);
    },
    60_000,
  );

  itDeep('that was not sent is sent before the next one of the relayer', async () => {
    const lost = await world.transaction({ to: RECIPIENT, value: 3n });
    await world.sign(lost);
    const other = await world.transaction({ to: RECIPIENT, value: 4n });
    expect(await world.execute(other)).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await world.prepare(lost)).toMatchObject({ kind: 'decided', outcome: { kind: 'executed' } });
    await world.execute(lost);
    expect(await world.envelopes(lost)).toMatchObject([{ outcome: 'mined', sent_at: expect.any(Date) }]);
  });

  test('behind an unused nonce has that nonce filled', async () => {
    const ref = await world.transaction({ to: RECIPIENT, value: 3n });
    const terms = await world.terms(ref);
    // What the terms say may be of a while ago.
    const next = await world.client.rpc.getTransactionCount({ address: world.relayer });
    // A signer has taken that nonce, and has ended before it stored its envelope.
    const of = { organizationId: ref.organizationId, networkId: world.network.id };
    const taken = { relayerAddress: world.relayer, relayerNonce: next };
    const cost = { gas: terms.gas, maxFeePerGas: terms.maxFeePerGas };
    await world.journal.append({ type: 'gas', kind: 'transaction', ...of, ...taken, ...cost });
    const envelopeId = await world.sign(ref, { chainNonce: next + 1 });
    const gap = await world.followToEnd(ref, envelopeId);
    if (gap.kind !== 'gap') throw new Error(JSON.stringify(gap));
    expect(gap.nonce).toBe(next);
    const fill = { networkId: world.network.id, nonce: gap.nonce, terms: gap.terms };
    const filled = await world.signer.fillNonce(fill);
    expect(await world.signer.fillNonce(fill)).toEqual(filled);
    const above = { ...fill, nonce: fill.nonce + 2 };
    expect(await world.signer.fillNonce(above)).toEqual({
      refused: {
        code: 'stale',
        message: `no undecided envelope waits for nonce ${above.nonce} of relayer ${world.relayer} on Own Chain`,
      },
    });
    const filler = await world
      .db('chain_envelopes')
      .where({ id: BigInt(envelopeOf(filled)) })
      .first();
    expect(parseTransaction(filler?.raw_transaction as Hex)).toMatchObject({
      to: world.relayer.toLowerCase(),
      nonce: gap.nonce,
      gas: 21_000n,
    });
    expect(parseTransaction(filler?.raw_transaction as Hex).value ?? 0n).toBe(0n);
    expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await world.envelopes(ref)).toHaveLength(1);
  });

  itDeep(
    'behind an envelope whose attempt is decided has that one replaced, with a fee that nodes accept',
    async () => {
      const decided = await world.transaction({ to: RECIPIENT, value: 3n });
      const replaces = await world.sign(decided);
      const ref = await world.transaction({ to: RECIPIENT, value: 3n });
      await world.sign(ref);
      await world.attempts(decided).update({ outcome: 'executed', decided_at: new Date() });
      const { relayer_nonce, max_fee_per_gas } = requireRow(await world.envelopes(decided).first());
      const nonce = Number(relayer_nonce);
      const fillAt = (percent: bigint) => {
        const maxFeePerGas = String((BigInt(max_fee_per_gas) * percent) / 100n);
        const terms = {
          gas: '21000',
          maxFeePerGas,
          maxPriorityFeePerGas: maxFeePerGas,
          relayerAddress: world.relayer,
          chainNonce: 0,
          head: '0',
          replaces,
        };
        return world.signer.fillNonce({ networkId: world.network.id, nonce, terms });
      };
      expect(await fillAt(109n)).toMatchObject({ refused: { code: 'stale' } });
      const filled = await fillAt(125n);
      expect(await fillAt(150n)).toEqual(filled);
      expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
      expect(await world.db('chain_envelopes').where({ relayer_nonce }).orderBy('id')).toMatchObject([
        { id: BigInt(replaces) },
        { id: BigInt(envelopeOf(filled)), sent_at: expect.any(Date) },
      ]);
    },
  );

  test('does not fill a nonce with an undecided attempt', async () => {
    const ref = await world.transaction({ to: RECIPIENT, value: 3n });
    const { safeTxGas: _, ...terms } = await world.terms(ref);
    await world.sign(ref);
    const { id, relayer_nonce } = requireRow(await world.envelopes(ref).first());
    const fill = { networkId: world.network.id, nonce: Number(relayer_nonce), terms };
    expect(await world.signer.fillNonce(fill)).toMatchObject({ refused: { code: 'stale' } });
    const replacing = { ...fill, terms: { ...terms, replaces: String(id) } };
    expect(await world.signer.fillNonce(replacing)).toMatchObject({ refused: { code: 'stale' } });
    expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
  });
});

describe('a third party that has seen the bytes', () => {
  test('and sends them first has executed it, whatever the outcome of our envelope', async () => {
    const to = await counter();
    const ref = await world.transaction({ to, data: call('increment') });
    const envelopeId = await world.sign(ref);
    await sendAsFunder(world.url, await bytesOf(envelopeId));
    const followed = await world.followToEnd(ref, envelopeId);
    const { transaction_hash } = requireRow(await world.envelopes(ref).first());
    expect(followed).toMatchObject({ kind: 'decided', outcome: { kind: 'executed' } });
    if (followed.kind !== 'decided') throw new Error('it is not');
    expect(followed.outcome.transactionHash).not.toBe(transaction_hash);
    expect(await countOf(to)).toBe(1n);
    await world.finish(ref, followed);
    expect(await world.record(ref)).toMatchObject({
      executionStatus: 'completed',
      result: { transactionHash: followed.outcome.transactionHash },
    });
    expect((await world.envelopes(ref)).map(({ outcome }) => outcome)).not.toContain('mined');
    // The relayer goes on behind its own that came too late.
    expect(await world.execute(await world.transaction({ to, data: call('increment') }))).toMatchObject({
      outcome: { kind: 'executed' },
    });
  });

  itDeep('and puts them into a multicall decides each on its own', async () => {
    const account = await world.account();
    const plain = await token('plain', account);
    const silent = await token('withoutEvent', account);
    const refs = await Promise.all([
      world.transaction({ to: silent, data: transfer() }, { account }),
      world.transaction({ to: plain, data: transfer() }, { account }),
    ]);
    const ids = [];
    for (const ref of refs) ids.push(await world.sign(ref));
    const calls = await Promise.all(ids.map(bytesOf));
    const receipt = (await sendAsFunder(world.url, {
      to: await world.contract('multicall', MULTICALL),
      data: multicallData(calls),
    })) as unknown as { transactionHash: Hex };
    const outcomes = await Promise.all(refs.map((ref) => world.execute(ref)));
    expect(outcomes).toMatchObject([
      {
        outcome: {
          kind: 'executed',
          transactionHash: receipt.transactionHash,
          note: expect.stringContaining('logged no Transfer'),
        },
      },
      { outcome: { kind: 'executed', transactionHash: receipt.transactionHash } },
    ]);
  });

  itDeep('and sends them once more changes nothing', async () => {
    const to = await counter();
    const ref = await world.transaction({ to, data: call('increment') });
    const bytes = await bytesOf(await world.sign(ref));
    await world.execute(ref);
    expect(await sendAsFunder(world.url, bytes)).toMatchObject({ status: '0x0' });
    expect(await countOf(to)).toBe(1n);
  });
});

describe('tokens', () => {
  test.each<[keyof typeof TOKENS]>([
    ['plain'],
    ['returningNothing'],
    ['takingFee'],
    ['lazy'],
    ['returningMegabyte'],
  ])('%s: the transfer is executed', async (kind) => {
    const account = await world.account();
    const to = await token(kind, account);
    const ref = await world.transaction({ to, data: transfer() }, { account });
    expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
    const left = await rpc<Hex>(world.url, 'eth_getStorageAt', [
      to,
      numberToHex(BigInt(account.address)),
      'latest',
    ]);
    expect(BigInt(left)).toBe(90n);
  });

  test.each<[keyof typeof TOKENS, string]>([
    ['returningFalse', 'the token returns false'],
    ['returningFalseAfterMoving', 'the token returns false'],
    ['returningTwo', 'neither true nor false'],
    ['returningOneByte', 'neither true nor false'],
    ['returning32Megabytes', 'using all of'],
    ['revertingWithReason', '"paused by its owner"'],
    ['revertingWithError', 'a custom error: 0x'],
    ['revertingWithPanic', 'panic 0x11 (arithmetic overflow or underflow)'],
    ['revertingWithNothing', 'would revert with no reason'],
    ['revertingWithNonsense', 'malformed revert data: 0xdead'],
    ['burningGas', 'using all of'],
    ['looping', 'using all of'],
  ])('%s: nothing is signed, and it says why', async (kind, words) => {
    const account = await world.account();
    const ref = await world.transaction({ to: await token(kind, account), data: transfer() }, { account });
    expect(await world.execute(ref)).toMatchObject({
      kind: 'failed',
      failure: { code: 'reverted', message: expect.stringContaining(words) },
    });
    expect(await world.attempts(ref)).toHaveLength(0);
    expect(await world.nonceOf(account)).toBe(0n);
  });

  test('without code, or with a balance that is too low, nothing is signed', async () => {
    const account = await world.account();
    const none = await world.transaction({ to: RECIPIENT, data: transfer() }, { account });
    expect(await world.execute(none)).toMatchObject({
      failure: { code: 'reverted', message: expect.stringContaining('there is no token contract') },
    });
    const little = await world.transaction(
      { to: await token('plain', account, 9n), data: transfer(10n) },
      { account },
    );
    expect(await world.execute(little)).toMatchObject({
      failure: { message: expect.stringContaining('transfer amount exceeds balance') },
    });
  });

  test('that log no Transfer count as paid, with a note: they may have moved the amount', async () => {
    const account = await world.account();
    const ref = await world.transaction(
      { to: await token('withoutEvent', account), data: transfer() },
      { account },
    );
    expect(await world.execute(ref)).toMatchObject({
      outcome: { kind: 'executed', note: expect.stringContaining('logged no Transfer') },
    });
    expect(await world.record(ref)).toMatchObject({
      executionStatus: 'completed',
      notes: [{ code: 'noTransferLogged' }],
    });
    expect(await world.usage(ref)).toMatchObject([{ status: 'committed' }]);
  });
});

describe('refused before it costs gas', () => {
  test('a call that would revert, with its reason', async () => {
    const account = await world.account();
    const ref = await world.transaction({ to: await counter(), data: call('fail') }, { account });
    expect(await world.execute(ref)).toEqual({
      kind: 'failed',
      failure: {
        code: 'reverted',
        message: 'the call would revert with "it always fails"; nothing was sent',
      },
    });
    expect(await world.nonceOf(account)).toBe(0n);
  });

  test('more than the balance of the account, and it is sent once the account is funded', async () => {
    const account = await world.account();
    const ref = await world.transaction({ to: RECIPIENT, value: 2n * ETHER }, { account });
    expect(await world.execute(ref)).toMatchObject({
      kind: 'failed',
      failure: {
        code: 'accountFunds',
        message: expect.stringContaining(`has 1 ETH and sends 2 ETH: fund the account ${account.address}`),
      },
    });
    await world.setBalance(account.address, 3n * ETHER);
    expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
  });

  itDeep('calldata that alone needs more than the ceiling of gas', async () => {
    const ref = await world.transaction({ to: RECIPIENT, data: `0x${'ab'.repeat(131_072)}` });
    expect(await world.prepare(ref)).toMatchObject({
      failure: { code: 'reverted', message: expect.stringContaining('MAX_GAS') },
    });
  });

  itDeep('gas above the ceiling of the network', async () => {
    const ref = await world.transaction({ to: RECIPIENT, value: 1n });
    await setBaseFee(world.url, 10n * GWEI);
    const cheap = world.chainWith({ maxFeePerGas: 0n });
    expect(
      await cheap.prepareTransaction({ ...ref, networkId: world.network.id, cancel: false }),
    ).toMatchObject({
      failure: { code: 'feeCeiling', message: expect.stringContaining('ceiling of 0 gwei') },
    });
  });

  itDeep('an account that is not deployed', async () => {
    const account = await world.account();
    const ref = await world.transaction({ to: RECIPIENT, value: 1n }, { account });
    await rpc(world.url, 'anvil_setCode', [account.address, '0x']);
    await rpc(world.url, 'anvil_setStorageAt', [account.address, '0x0', numberToHex(0n, { size: 32 })]);
    expect(await world.prepare(ref)).toMatchObject({
      failure: { code: 'stale', message: expect.stringContaining(account.address) },
    });
  });

  test('an unavailable network is reported, and is not a failure', async () => {
    const ref = await world.transaction({ to: RECIPIENT, value: 1n });
    const unavailable = world.chainWith({ rpcUrls: ['http://127.0.0.1:1'] });
    const input = { ...ref, networkId: world.network.id, cancel: false };
    expect(await unavailable.prepareTransaction(input)).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('Own Chain'),
    });
    const envelopeId = await world.sign(ref);
    expect(await unavailable.prepareTransaction(input)).toEqual({ kind: 'inFlight', envelopeId });
    const other = world.chainWith({ id: 5 });
    await world.db('transactions').where({ id: ref.transactionId }).update({ network_id: 5 });
    expect(await other.prepareTransaction({ ...input, networkId: 5 })).toMatchObject({ kind: 'inFlight' });
    await world.db('transactions').where({ id: ref.transactionId }).update({ network_id: world.network.id });
    expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
  });
});

describe('the first observation, as a local activity', () => {
  const observing = (rpcUrls: readonly string[], timeoutMs: number) => {
    const chains = createChainClients([{ ...world.network, rpcUrls }]);
    const deps = { ...createRelayerReads(20), db: world.serviceDb, chains, maxGas: 5_000_000n };
    return createPrepareNewTransaction(deps, timeoutMs);
  };

  test('gives the terms, and leaves to the chain worker what fails or is signed', async () => {
    const observe = observing([world.url], 60_000);
    const ref = await world.transaction({ to: RECIPIENT, value: 1n });
    const input = { ...ref, networkId: world.network.id };
    expect(await observe(input)).toMatchObject({
      kind: 'needsEnvelope',
      terms: { relayerAddress: world.relayer, accountNonce: '0' },
      attempted: false,
    });
    const refused = await world.transaction({ to: await counter(), data: call('fail') });
    expect(await world.prepare(refused)).toMatchObject({ kind: 'failed', failure: { code: 'reverted' } });
    expect(await observe({ ...refused, networkId: world.network.id })).toBeNull();
    await world.sign(ref);
    expect(await observe(input)).toBeNull();
    expect(await observe({ ...input, networkId: 5 })).toBeNull();
    await world.execute(ref);
  });

  test('leaves a network that does not answer to the chain worker, and does not ask it again at once', async () => {
    let asked = 0;
    const silent = await startRpcProxy(world.url, async () => {
      asked += 1;
      return new Promise<string>(() => undefined);
    });
    try {
      const observe = observing([silent.url], 1_000);
      const input = {
        ...(await world.transaction({ to: RECIPIENT, value: 1n })),
        networkId: world.network.id,
      };
      expect(await observe(input)).toBeNull();
      const before = asked;
      expect(before).toBeGreaterThan(0);
      expect(await observe(input)).toBeNull();
      expect(asked).toBe(before);
    } finally {
      await silent.stop();
    }
  });

  test('is that of eight at once', async () => {
    const gate = new AbortController();
    const held = new Promise<void>((resolve) => gate.signal.addEventListener('abort', () => resolve()));
    const slow = await startRpcProxy(world.url, async (_body, pass) => held.then(pass));
    try {
      const observe = observing([slow.url], 60_000);
      const refs = await Promise.all(
        Array.from({ length: 9 }, () => world.transaction({ to: RECIPIENT, value: 1n })),
      );
      const seen = refs.map((ref) => observe({ ...ref, networkId: world.network.id }));
      // The others wait for the network.
      expect(await seen[8]).toBeNull();
      gate.abort();
      for (const one of seen.slice(0, 8)) expect(await one).toMatchObject({ kind: 'needsEnvelope' });
    } finally {
      await slow.stop();
    }
  });
});

describe('on a rollup', () => {
  const ORACLE = '0x420000000000000000000000000000000000000F';
  const NODE_INTERFACE = '0x00000000000000000000000000000000000000C8';
  /** Code that returns this word, and two words of zeros. */
  const returning = (word: bigint) =>
    concatHex(['0x7f', numberToHex(word, { size: 32 }), '0x60005260606000f3']);
  const prepareOn = async (dataFee: 'opStack' | 'arbitrum', ref: TransactionRef) =>
    world.chainWith({ dataFee }).prepareTransaction({ ...ref, networkId: world.network.id, cancel: false });

  test('the relayer needs what the data costs on L1 beside its gas (OP stack)', async () => {
    const ref = await world.transaction({ to: RECIPIENT, value: 1n });
    const balance = await world.client.rpc.getBalance({ address: world.relayer });
    await rpc(world.url, 'anvil_setCode', [ORACLE, returning(balance)]);
    expect(await prepareOn('opStack', ref)).toMatchObject({
      failure: { code: 'relayerFunds', message: expect.stringContaining(`has ${formatEther(balance)} ETH`) },
    });
    await rpc(world.url, 'anvil_setCode', [ORACLE, returning(1n)]);
    expect(await prepareOn('opStack', ref)).toMatchObject({ kind: 'needsEnvelope' });
  });

  test('the gas for its data is added, within what the signer signs (Arbitrum)', async () => {
    const ref = await world.transaction({ to: RECIPIENT, value: 1n });
    const gasWith = async (gas: bigint) => {
      await rpc(world.url, 'anvil_setCode', [NODE_INTERFACE, returning(gas)]);
      const seen = await prepareOn('arbitrum', ref);
      if (seen.kind !== 'needsEnvelope') throw new Error(`it is ${seen.kind}`);
      return BigInt(seen.terms.gas);
    };
    const none = await gasWith(0n);
    expect(await gasWith(12_345n)).toBe(none + 12_345n);
    const most = await gasWith(10n ** 9n);
    const terms = { ...(await world.terms(ref)), gas: String(most) };
    expect(envelopeOf(await world.signer.signTransaction({ ...ref, terms }))).toMatch(/^\d+$/);
    expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
  });
});

describe('a relayer with insufficient funds', () => {
  test('is named with what it needs, and the transaction is sent after it is funded', async () => {
    const ref = await world.transaction({ to: RECIPIENT, value: 1n });
    await world.setBalance(world.relayer, 0n);
    const seen = await world.prepare(ref);
    expect(seen).toMatchObject({
      kind: 'failed',
      failure: {
        code: 'relayerFunds',
        message: expect.stringContaining(`${world.relayer} has 0 ETH on Own Chain`),
      },
      awaitsRelayerWei: expect.stringMatching(/^[1-9]\d+$/),
    });
    const looked = jest.spyOn(world.client.rpc, 'getBalance');
    const looks = () => looked.mock.calls.length;
    const wei = (seen as { awaitsRelayerWei: string }).awaitsRelayerWei;
    const { accountId } = await world.record(ref);
    let refilled = false;
    const waiting = new MockActivityEnvironment()
      .run(world.chain.awaitRelayer, { networkId: world.network.id, accountId, wei })
      .then(() => {
        refilled = true;
      });
    await until('it waits', async () => looks() > 1);
    await world.setBalance(world.relayer, BigInt(wei) - 1n);
    const had = looks();
    await until('it has looked again', async () => looks() > had + 1);
    expect(refilled).toBe(false);
    await world.setBalance(world.relayer, BigInt(wei));
    await waiting;
    looked.mockRestore();
    expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
  });

  test('is found on a node that gives the sender of a call all there can be', async () => {
    const generous = await startRpcProxy(world.url, async (body, pass) => {
      const answer = JSON.parse(await pass());
      // The seventh word that the simulation returns.
      const at = 2 + 64 * 6;
      if (body.includes('eth_call') && answer.result?.length >= at + 64) {
        answer.result = answer.result.slice(0, at) + 'f'.repeat(64) + answer.result.slice(at + 64);
      }
      return JSON.stringify(answer);
    });
    try {
      const there = world.chainWith({ rpcUrls: [generous.url] });
      const ref = await world.transaction({ to: RECIPIENT, value: 1n });
      const input = { ...ref, networkId: world.network.id, cancel: false };
      expect(await there.prepareTransaction(input)).toMatchObject({ kind: 'needsEnvelope' });
      await world.setBalance(world.relayer, 0n);
      expect(await there.prepareTransaction(input)).toMatchObject({
        kind: 'failed',
        failure: { code: 'relayerFunds' },
      });
    } finally {
      await generous.stop();
    }
  });

  itDeep(
    'is reported as waited for after signing',
    async () => {
      const ref = await world.transaction({ to: RECIPIENT, value: 1n });
      const envelopeId = await world.sign(ref);
      await world.setBalance(world.relayer, 0n);
      const waiting = await world.follow(ref, envelopeId);
      expect(waiting).toMatchObject({
        kind: 'waiting',
        message: expect.stringContaining('insufficient funds'),
      });
      await world.fundRelayer();
      expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
    },
    30_000,
  );
});

describe('cancelled', () => {
  test('before anything is signed, signs nothing', async () => {
    const ref = await world.transaction({ to: RECIPIENT, value: 1n });
    expect(await world.prepare(ref, true)).toMatchObject({ kind: 'failed', failure: { code: 'timeout' } });
    expect(await world.attempts(ref)).toHaveLength(0);
  });

  test('while it is pending, has its nonce used by an empty call that pays more', async () => {
    const account = await world.account();
    const to = await counter();
    const ref = await world.transaction({ to, data: call('increment') }, { account });
    const [next] = [await world.transaction({ to, data: call('set', 40n) }, { account })];
    await world.withoutMining(async () => {
      const first = world.followToEnd(ref, await world.sign(ref));
      await world.pending(1);
      await world.requestCancellation(ref);
      const seen = await world.prepare(ref, true);
      if (seen.kind !== 'needsEnvelope') throw new Error(JSON.stringify(seen));
      expect(seen).toMatchObject({ cancels: true, attempted: true });
      const signed = await world.signer.signCancellation({ ...ref, terms: seen.terms });
      expect(await world.signer.signCancellation({ ...ref, terms: seen.terms })).toEqual(signed);
      const envelopeId = envelopeOf(signed);
      expect(await world.prepare(ref, true)).toEqual({ kind: 'inFlight', envelopeId });
      const second = world.followToEnd(ref, envelopeId);
      await until('the node has the new one', async () => {
        const { sent_at } = requireRow(
          await world
            .db('chain_envelopes')
            .where({ id: BigInt(envelopeId) })
            .first(),
        );
        return sent_at !== null;
      });
      await world.mine();
      await world.mine();
      const [one, two] = await Promise.all([first, second]);
      expect(two).toMatchObject({ kind: 'decided', outcome: { kind: 'cancelled' } });
      expect(one).toEqual(two);
      if (two.kind === 'decided') await world.finish(ref, two);
    });
    expect(await countOf(to)).toBe(0n);
    expect(await world.record(ref)).toMatchObject({
      executionStatus: 'failed',
      failure: { code: 'timeout' },
    });
    expect(await world.attempts(ref)).toMatchObject([
      { kind: 'transaction', outcome: 'cancelled' },
      { kind: 'cancellation', outcome: 'executed', to_address: account.address, data: '0x', value: '0' },
    ]);
    const [first, second] = await world.envelopes(ref);
    expect(second?.relayer_nonce).toBe(first?.relayer_nonce);
    expect(next && (await world.execute(next))).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await countOf(to)).toBe(40n);
  }, 30_000);

  test('too late, is executed: whichever is mined decides', async () => {
    const to = await counter();
    const ref = await world.transaction({ to, data: call('increment') });
    const envelopeId = await world.sign(ref);
    await world.requestCancellation(ref);
    const seen = await world.prepare(ref, true);
    if (seen.kind !== 'needsEnvelope') throw new Error(JSON.stringify(seen));
    const cancelling = envelopeOf(await world.signer.signCancellation({ ...ref, terms: seen.terms }));
    // A third party is faster with the bytes of the transaction.
    await sendAsFunder(world.url, await bytesOf(envelopeId));
    const ended = await world.followToEnd(ref, cancelling);
    expect(ended).toMatchObject({ kind: 'decided', outcome: { kind: 'executed' } });
    if (ended.kind === 'decided') await world.finish(ref, ended);
    expect(await countOf(to)).toBe(1n);
    expect(await world.attempts(ref)).toMatchObject([
      { kind: 'transaction', outcome: 'executed' },
      { kind: 'cancellation', outcome: 'cancelled' },
    ]);
    expect(await world.record(ref)).toMatchObject({ executionStatus: 'completed' });
  });

  test('by something that nobody here has authorized, says so once, and the account goes on', async () => {
    const account = await world.account();
    const to = await counter();
    const ref = await world.transaction({ to, data: call('increment') }, { account });
    const envelopeId = await world.sign(ref);
    await world.executeUnknown(account);
    const ended = await world.followToEnd(ref, envelopeId);
    if (ended.kind !== 'decided' || ended.outcome.kind !== 'cancelled')
      throw new Error(JSON.stringify(ended));
    await world.finish(ref, ended);
    // A second look, as after a crash, records nothing more.
    expect(await world.signer.confirmOutcome(ref)).toEqual({ outcome: 'cancelled' });
    const { transactionHash } = ended.outcome;
    const [used, ...more] = await world.db('unknown_executions').where({ account_id: account.id });
    expect(more).toEqual([]);
    expect(used).toMatchObject({ safe_nonce: 0n, transaction_hash: transactionHash });
    const { safe_tx_hash: safeTxHash } = requireRow(used);
    expect(await world.record(ref)).toMatchObject({
      executionStatus: 'failed',
      failure: { code: 'timeout', message: expect.stringContaining(safeTxHash), transactionHash },
    });
    expect(
      await world.db('audit_log').where({ action: 'account.unknownExecution', resource_id: account.id }),
    ).toMatchObject([{ details: { safeNonce: '0', safeTxHash } }]);
    const next = await world.transaction({ to, data: call('set', 40n) }, { account });
    expect(await world.execute(next)).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await countOf(to)).toBe(40n);
  });

  test('is nothing that was paid, though its record is put under another account', async () => {
    const [paid, other] = [await world.account(), await world.account()];
    const to = await counter();
    const ref = await world.transaction({ to, data: call('increment') }, { account: paid });
    await world.execute(ref);
    await world.execute(await world.transaction({ to, data: call('increment') }, { account: other }));
    const rows = () => world.db('transactions').where({ id: ref.transactionId });
    await rows().update({ account_id: other.id });
    expect(await world.signer.confirmOutcome(ref)).toEqual({
      unreachable: expect.stringContaining('is not what transaction'),
    });
    await rows().update({ account_id: paid.id });
    expect(world.journal.outcomeOf(ref.transactionId)?.outcome).not.toBe('cancelled');
    expect(await world.db('unknown_executions').where({ account_id: other.id })).toEqual([]);
  });

  itDeep('replaces a stuck empty call, not the transaction', async () => {
    const to = await counter();
    const ref = await world.transaction({ to, data: call('increment') });
    await world.sign(ref);
    await world.requestCancellation(ref);
    const seen = await world.prepare(ref, true);
    if (seen.kind !== 'needsEnvelope') throw new Error(JSON.stringify(seen));
    const cancelling = envelopeOf(await world.signer.signCancellation({ ...ref, terms: seen.terms }));
    const { terms } = seen;
    const raised = {
      ...terms,
      maxFeePerGas: String(2n * BigInt(terms.maxFeePerGas)),
      maxPriorityFeePerGas: String(2n * BigInt(terms.maxPriorityFeePerGas)),
      replaces: cancelling,
    };
    const again = envelopeOf(await world.signer.signTransaction({ ...ref, terms: raised }));
    expect((await bytesOf(again)).data).toBe((await bytesOf(cancelling)).data);
    expect(await world.execute(ref, { cancel: true })).toMatchObject({ outcome: { kind: 'cancelled' } });
    expect(await countOf(to)).toBe(0n);
  });
});
