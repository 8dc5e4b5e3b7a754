import { MockActivityEnvironment } from '@temporalio/testing';
import { type Address, keccak256, numberToHex } from 'viem';
import { resendLostDeployments } from '../../activities/deployments/resendLost';
import { createRelayerContext } from '../../activities/relayer/relayerContext';
import { sendInOrder } from '../../activities/relayer/sendInOrder';
import { createChainClients } from '../../src/chain/clients';
import { checkRelayers } from '../../src/cli/doctor/networkChecks';
import { findEnvelopePayload } from '../../src/db/followedAttempts';
import { newId } from '../../src/db/ids';
import { listRelayers, listRelayersInUse } from '../../src/db/relayers';
import { requireRow } from '../../src/db/rows';
import type { TransactionTerms } from '../../src/domain/terms';
import type { TransactionRef } from '../../src/domain/transaction';
import { createLogger } from '../../src/logging';
import { insertEnvelope } from '../../src/signer/store/reservations';
import { insertFiller } from '../../src/signer/store/signedAttempts';
import { setBaseFee } from '../support/baseFee';
import { inSlot } from '../support/inSlot';
import { startRpcProxy } from '../support/rpcProxy';
import { aTransferPolicy } from '../support/transactions';
import { until } from '../support/until';
import { envelopeOf, GWEI, type TestAccount, TransactionWorld } from './transactionWorld';

const TO: Address = '0x00000000000000000000000000000000000000AA';

let world: TransactionWorld;

beforeAll(async () => {
  world = await TransactionWorld.start(41_121, { relayers: 2 });
  await world.fundRelayer(1);
});

afterAll(() => world?.stop());

function payment(account: TestAccount): Promise<TransactionRef> {
  return world.transaction({ to: TO, value: 1n }, { account });
}

/** A signer whose file has another number of relayers. */
function signerOf(relayers: number) {
  return world.signerWith({ networks: [{ ...world.network, relayers }] });
}

/** What the chain worker asks for where its file has another number of relayers. */
async function termsOf(ref: TransactionRef, relayers: number): Promise<TransactionTerms> {
  const chain = world.chainWith({ relayers });
  const seen = await chain.prepareTransaction({ ...ref, networkId: world.network.id, cancel: false });
  if (seen.kind !== 'needsEnvelope') throw new Error(JSON.stringify(seen));
  return seen.terms;
}

async function signWith(relayers: number, ref: TransactionRef): Promise<string> {
  const terms = await termsOf(ref, relayers);
  return envelopeOf(await signerOf(relayers).signTransaction({ ...ref, terms }));
}

/** The relayers of the envelopes of a transaction, oldest first. */
async function payersOf(ref: TransactionRef): Promise<string[]> {
  return (await world.envelopes(ref)).map((row) => row.relayer_address);
}

test('the signer registers as many as the network has', async () => {
  expect(await listRelayers(world.db, world.network.id)).toEqual(
    [0, 1].map((index) => ({ networkId: world.network.id, index, address: world.relayerAt(index) })),
  );
  const more = { ...world.network, relayers: 3 };
  const chain = requireRow(createChainClients([more]).get(more.id));
  expect(await checkRelayers(chain, await listRelayersInUse(world.db, [more]))).toMatchObject([
    ...[0, 1].map((index) => ({ status: 'ok', found: expect.stringContaining(world.relayerAt(index)) })),
    { status: 'warn', found: expect.stringContaining('2 of the 3 relayers') },
  ]);
});

test('one without funds delays its own accounts only', async () => {
  const [poor, rich] = [await world.account(), await world.account({ relayer: 1 })];
  const signed = await payment(poor);
  await world.sign(signed);
  const waiting = await payment(poor);
  await world.setBalance(world.relayerAt(0), 0n);
  const delayed = world.execute(signed);
  const seen = await world.prepare(waiting);
  expect(seen).toMatchObject({
    kind: 'failed',
    failure: { code: 'relayerFunds', message: expect.stringContaining(world.relayerAt(0)) },
  });
  const { awaitsRelayerWei: wei } = seen as { awaitsRelayerWei: string };
  const funded = ({ id: accountId }: TestAccount) =>
    new MockActivityEnvironment().run(world.chain.awaitRelayer, {
      networkId: world.network.id,
      accountId,
      wei,
    });
  let refilled = false;
  const refill = funded(poor).then(() => {
    refilled = true;
  });
  await funded(rich);
  const other = await payment(rich);
  const next = await world.client.rpc.getTransactionCount({ address: world.relayerAt(1) });
  expect(await world.execute(other)).toMatchObject({ outcome: { kind: 'executed' } });
  expect(await world.envelopes(other)).toMatchObject([
    { relayer_address: world.relayerAt(1), relayer_nonce: BigInt(next) },
  ]);
  expect(refilled).toBe(false);
  expect(await world.envelopes(signed)).toMatchObject([{ outcome: null }]);
  await world.fundRelayer();
  await refill;
  expect(await delayed).toMatchObject({ outcome: { kind: 'executed' } });
  expect(await world.execute(waiting)).toMatchObject({ outcome: { kind: 'executed' } });
  expect([...(await payersOf(signed)), ...(await payersOf(waiting))]).toEqual(
    Array(2).fill(world.relayerAt(0)),
  );
});

test('a refill that only one of the nodes behind an endpoint shows does not make executions begin without a pause', async () => {
  const account = await world.account();
  const ref = await payment(account);
  const networkId = world.network.id;
  const balance = await world.client.rpc.getBalance({ address: world.relayerAt(0) });
  await world.setBalance(world.relayerAt(0), 0n);
  const proxy = await startRpcProxy(world.url, async (body, pass) => {
    const { id, method } = JSON.parse(body);
    return method === 'eth_getBalance'
      ? JSON.stringify({ jsonrpc: '2.0', id, result: numberToHex(balance) })
      : pass();
  });
  try {
    const chain = world.chainWith({ rpcUrls: [proxy.url] });
    const begunAt = performance.now();
    let executions = 0;
    while (performance.now() - begunAt < 1_000) {
      const seen = await chain.prepareTransaction({ ...ref, networkId, cancel: false });
      expect(seen).toMatchObject({ kind: 'failed', failure: { code: 'relayerFunds' } });
      executions += 1;
      const { awaitsRelayerWei: wei } = seen as { awaitsRelayerWei: string };
      await new MockActivityEnvironment().run(chain.awaitRelayer, { networkId, accountId: account.id, wei });
    }
    // 16 polls of 20 ms lie between them.
    expect(executions).toBeLessThanOrEqual(4);
  } finally {
    await proxy.stop();
    await world.setBalance(world.relayerAt(0), balance);
  }
});

test('an unused nonce is filled by the relayer whose nonce it is', async () => {
  const ref = await payment(await world.account({ relayer: 1 }));
  const { chainNonce, gas, maxFeePerGas, relayerAddress } = await world.terms(ref);
  expect(relayerAddress).toBe(world.relayerAt(1));
  // A signer has taken that nonce, and has ended before it stored its envelope.
  await world.journal.append({
    ...{ type: 'gas', kind: 'transaction', organizationId: ref.organizationId, networkId: world.network.id },
    ...{ relayerAddress, relayerNonce: chainNonce, gas, maxFeePerGas },
  });
  const envelopeId = await world.sign(ref, { chainNonce: chainNonce + 1 });
  expect(await world.followToEnd(ref, envelopeId)).toMatchObject({ kind: 'gap', nonce: chainNonce });
  expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
  const filler = world
    .db('chain_attempts')
    .where({ kind: 'filler', to_address: relayerAddress })
    .select('id');
  expect(await world.db('chain_envelopes').whereIn('attempt_id', filler)).toMatchObject([
    { relayer_address: relayerAddress, relayer_nonce: BigInt(chainNonce) },
  ]);
});

test('the budget of a policy counts what accounts of other relayers spend at the same time', async () => {
  const all = 'ALL_ITEMS' as const;
  const limitation = { hours: 24, initiatorScope: all, sourceAccountScope: all, destinationScope: all };
  const policyId = newId('pol');
  const { id: networkId } = world.network;
  await world.storePolicy({
    ...aTransferPolicy({ amountThreshold: '8' }, { networkId, limitation }),
    id: policyId,
  });
  const refs: TransactionRef[] = [];
  for (const relayer of [0, 1, 0, 1, 0, 1]) {
    const account = await world.account({ relayer });
    refs.push(await world.transaction({ to: TO, value: 5n }, { account, policyId }));
  }
  const terms = await Promise.all(refs.map((ref) => world.terms(ref)));
  expect(new Set(terms.map(({ relayerAddress }) => relayerAddress)).size).toBe(2);
  const answers = await Promise.all(
    refs.map((ref, i) => world.signer.signTransaction({ ...ref, terms: requireRow(terms[i]) })),
  );
  expect(answers.filter((answer) => 'envelopeId' in answer)).toHaveLength(1);
  expect(answers).toContainEqual({ refused: expect.objectContaining({ code: 'budget' }) });
  await Promise.all(
    refs.map((ref, i) => ('envelopeId' in requireRow(answers[i]) ? world.execute(ref) : undefined)),
  );
});

describe('when the number is changed', () => {
  test('to more, what is open stays with its relayer, and what follows it', async () => {
    const account = await world.account({ relayer: 1 });
    const [first, second] = [await payment(account), await payment(account)];
    await world.withoutMining(async () => {
      const firstId = await signWith(1, first);
      expect(await world.prepare(first)).toEqual({ kind: 'inFlight', envelopeId: firstId });
      const secondId = await world.sign(second);
      const followed = [world.followToEnd(first, firstId), world.followToEnd(second, secondId)];
      await world.pending(2);
      await world.mine(2);
      expect(await Promise.all(followed)).toMatchObject(Array(2).fill({ outcome: { kind: 'executed' } }));
    });
    expect([...(await payersOf(first)), ...(await payersOf(second))]).toEqual(
      Array(2).fill(world.relayerAt(0)),
    );
    await world.execute(first);
    await world.execute(second);
    const third = await payment(account);
    expect(await world.execute(third)).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await payersOf(third)).toEqual([world.relayerAt(1)]);
  });

  test('to fewer, what is open is replaced by its relayer, and then that one is chosen no more', async () => {
    const account = await world.account({ relayer: 1 });
    const ref = await payment(account);
    const envelopeId = await world.sign(ref);
    const fewer = [{ id: world.network.id, relayers: 1 }];
    expect(await listRelayersInUse(world.db, fewer)).toHaveLength(2);
    await setBaseFee(world.url, 900n * GWEI);
    const mining = setInterval(() => void world.mine().catch(() => undefined), 400);
    try {
      const stuck = await world.followToEnd(ref, envelopeId);
      if (stuck.kind !== 'stuck') throw new Error(JSON.stringify(stuck));
      const raised = await signerOf(1).signTransaction({ ...ref, terms: stuck.terms });
      expect(await world.followToEnd(ref, envelopeOf(raised))).toMatchObject({ kind: 'decided' });
    } finally {
      clearInterval(mining);
      await setBaseFee(world.url, 1n);
    }
    await world.execute(ref);
    const [old, replacement] = await world.envelopes(ref);
    expect(replacement).toMatchObject({
      relayer_address: world.relayerAt(1),
      relayer_nonce: old?.relayer_nonce,
    });
    expect(await listRelayersInUse(world.db, fewer)).toMatchObject([{ index: 0 }]);
    const next = await payment(account);
    await signWith(1, next);
    expect(await payersOf(next)).toEqual([world.relayerAt(0)]);
    await world.execute(next);
  }, 60_000);

  test('for one of both processes only, what is new waits', async () => {
    const ref = await payment(await world.account({ relayer: 1 }));
    const terms = await termsOf(ref, 1);
    expect(await world.signer.signTransaction({ ...ref, terms })).toEqual({
      held: expect.stringContaining(`${world.relayerAt(1)} pays for account`),
    });
    expect(await world.signer.signTransaction({ ...ref, terms: { ...terms, relayerAddress: TO } })).toEqual({
      refused: { code: 'stale', message: expect.stringContaining(`${TO} is not a relayer of this signer`) },
    });
    expect(await world.attempts(ref)).toEqual([]);
    expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
  });
});

function contextOf() {
  return createRelayerContext({
    db: world.serviceDb,
    chains: createChainClients([world.network]),
    ...{ pollMs: 20, stuckAfterMs: 1_500, withoutSlot: inSlot },
  });
}

/** Envelopes of a relayer that are not sent yet, one after the other. */
async function storeEnvelopes(attemptId: bigint, index: number, from: number, count = 1): Promise<bigint[]> {
  const { id: networkId } = world.network;
  const relayer = world.keystore.relayerKey(networkId, index);
  const terms = { gas: 21_000n, maxFeePerGas: 10n * GWEI, maxPriorityFeePerGas: GWEI };
  return world.db.transaction(async (tx) => {
    const ids: bigint[] = [];
    for (let nonce = from; nonce < from + count; nonce += 1) {
      const rawTransaction = await relayer.signTransaction({
        ...{ type: 'eip1559', chainId: networkId, nonce, to: relayer.address, ...terms },
      });
      const of = { attemptId, networkId, relayerAddress: relayer.address, relayerNonce: nonce };
      const bytes = { rawTransaction, transactionHash: keccak256(rawTransaction) };
      ids.push(requireRow(await insertEnvelope(tx, { ...of, ...terms, ...bytes })));
    }
    return ids;
  });
}

test('more than 200 pending envelopes of a relayer are not a gap', async () => {
  const context = contextOf();
  const ref = await payment(await world.account());
  const { chainNonce } = await world.terms(ref);
  const filling = await world.db.transaction((tx) => insertFiller(tx, world.network.id, world.relayer));
  await storeEnvelopes(filling, 0, chainNonce, 250);
  const id = await world.sign(ref);
  const { envelope } = requireRow(await findEnvelopePayload(world.db, BigInt(id)));
  expect(envelope.relayerNonce).toBe(chainNonce + 250);
  await world.withoutMining(async () => {
    expect((await sendInOrder(context, world.client, envelope)).gap).toBeNull();
    await world.pending(201);
    await world.mine(2);
    expect((await sendInOrder(context, world.client, envelope)).gap).toBeNull();
    await world.pending(51);
  });
  expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
});

test('a lost deployment is sent again, though another relayer has no funds for its own', async () => {
  const nonces: number[] = [];
  for (const index of [0, 1]) {
    const { id } = await world.account({ relayer: index });
    const [attempt] = await world
      .db('chain_attempts')
      .insert({
        ...{ kind: 'deployment', organization_id: world.org.id, account_id: id, data: '0x' },
        ...{ network_id: world.network.id, to_address: world.relayerAt(index) },
      })
      .returning('id');
    const nonce = await world.client.rpc.getTransactionCount({ address: world.relayerAt(index) });
    const [envelopeId] = await storeEnvelopes(requireRow(attempt).id, index, nonce);
    const lost = { outcome: 'mined', decided_at: new Date() } as const;
    await world
      .db('chain_envelopes')
      .where({ id: requireRow(envelopeId) })
      .update(lost);
    nonces.push(nonce);
  }
  await world.setBalance(world.relayerAt(0), 0n);
  const logged: object[] = [];
  const logger = createLogger('warn', { write: (line: string) => void logged.push(JSON.parse(line)) });
  const resend = () => resendLostDeployments(contextOf(), world.network.id, logger);
  expect(await resend()).toBe(1);
  expect(logged).toEqual([
    expect.objectContaining({
      relayer: world.relayerAt(0),
      reason: expect.stringMatching(/^insufficient funds: relayer 0x/),
    }),
  ]);
  const used = () => world.client.rpc.getTransactionCount({ address: world.relayerAt(1) });
  await until('it is in a block', async () => (await used()) === requireRow(nonces[1]) + 1);
  await world.fundRelayer();
  expect(await resend()).toBe(1);
  expect(logged).toHaveLength(1);
});
