/** @deep */
import { MockActivityEnvironment } from '@temporalio/testing';
import { type Address, type Hex, parseTransaction } from 'viem';
import { createChainActivities } from '../../activities/chainActivities';
import { createRelayerContext, type RelayerContext } from '../../activities/relayer/relayerContext';
import { sendEnvelope, TransactionRejected } from '../../activities/relayer/send';
import type { FollowTransaction } from '../../activities/transactions/followTransaction';
import type { TransactionFollowed } from '../../activities/transactions/observation';
import { createChainClients } from '../../src/chain/clients';
import type { Envelope } from '../../src/db/envelopes';
import { findEnvelopePayload } from '../../src/db/followedAttempts';
import { requireRow } from '../../src/db/rows';
import type { TransactionRef } from '../../src/domain/transaction';
import { anAddress } from '../support/builders';
import { inSlot } from '../support/inSlot';
import { random } from '../support/random';
import { REFUSALS, type Refusal } from '../support/refusals';
import { type RpcProxy, startRpcProxy } from '../support/rpcProxy';
import { rpc } from '../support/stack';
import { DEEP } from '../support/suite';
import { until } from '../support/until';
import { TransactionWorld } from './transactionWorld';
import { sendAsFunder } from './wallets';

/** How the node takes a transaction. `lost`: it takes it, and its answer is lost. */
type Mode = 'takes' | 'lost' | 'cut' | Refusal;

let world: TransactionWorld;
let proxy: RpcProxy;
let mode: Mode = 'takes';
let sends = 0;
const methods = new Map<string, number>();
const payee = anAddress() as Address;

beforeAll(async () => {
  world = await TransactionWorld.start(41_192);
  proxy = await startRpcProxy(world.url, async (body, pass) => {
    const { id, method } = JSON.parse(body);
    methods.set(method, (methods.get(method) ?? 0) + 1);
    if (method !== 'eth_sendRawTransaction' || mode === 'takes') return pass();
    sends += 1;
    if (mode === 'lost') await pass();
    return typeof mode === 'string' ? undefined : JSON.stringify({ jsonrpc: '2.0', id, error: mode });
  });
});
afterAll(async () => {
  await proxy?.stop();
  await world?.stop();
});
beforeEach(() => {
  mode = 'takes';
  sends = 0;
  methods.clear();
});

/** The chain worker of a process that has just started. */
function startedContext(): RelayerContext {
  return createRelayerContext({
    db: world.serviceDb,
    chains: createChainClients([{ ...world.network, rpcUrls: [proxy.url] }]),
    pollMs: 20,
    withoutSlot: inSlot,
    stuckAfterMs: 1_500,
  });
}

/** Follows a transaction as such a process does. */
async function follow(ref: TransactionRef, envelopeId: string, context = startedContext()) {
  const { followTransaction } = createChainActivities({
    ...context,
    maxGas: 5_000_000n,
    scanners: new Map(),
  });
  let reported: string | null = null;
  for (;;) {
    const input: FollowTransaction = { ...ref, envelopeId, networkId: world.network.id, reported };
    const followed: TransactionFollowed = await new MockActivityEnvironment().run(followTransaction, input);
    if (followed.kind !== 'waiting') return followed;
    reported = followed.message;
  }
}

async function payment(): Promise<{ ref: TransactionRef; envelopeId: string; envelope: Envelope }> {
  const ref = await world.transaction({ to: payee, value: 1n });
  const envelopeId = await world.sign(ref);
  const { envelope } = requireRow(await findEnvelopePayload(world.serviceDb, BigInt(envelopeId)));
  return { ref, envelopeId, envelope };
}

const executed = { kind: 'decided', outcome: { kind: 'executed' } };

/** Sends an envelope once for each refusal. */
async function sentWithEach(envelope: Envelope): Promise<readonly (boolean | Error)[]> {
  const context = startedContext();
  const chain = requireRow(context.chains.get(world.network.id));
  const results: (boolean | Error)[] = [];
  for (const refusal of REFUSALS) {
    mode = refusal;
    results.push(await sendEnvelope(context, chain, envelope).catch((error: Error) => error));
  }
  mode = 'takes';
  return results;
}

describe('a node that refuses a transaction in any of a hundred ways', () => {
  test('may have it in a block, or in its pool: the chain is asked, and not its words', async () => {
    expect(REFUSALS.length).toBeGreaterThan(100);
    const all = (result: unknown) => REFUSALS.map(() => result);
    const { ref, envelopeId, envelope } = await payment();
    await world.withoutMining(async () => {
      const rejected = await sentWithEach(envelope);
      expect(rejected).toEqual(all(expect.any(TransactionRejected)));
      await rpc(world.url, 'eth_sendRawTransaction', [envelope.rawTransaction]);
      expect(await sentWithEach(envelope)).toEqual(all(false));
    });
    expect(await sentWithEach(envelope)).toEqual(all(false));
    expect(await follow(ref, envelopeId)).toMatchObject(executed);
    await world.execute(ref);
  });

  test('rejects what it does not have with its own words, and with those of the relayer for funds', async () => {
    const { ref, envelopeId, envelope } = await payment();
    const context = startedContext();
    const chain = requireRow(context.chains.get(world.network.id));
    mode = { code: -32_000, message: 'exceeds block gas limit' };
    await expect(sendEnvelope(context, chain, envelope)).rejects.toThrow(
      /^Own Chain \(41192\) rejects the transaction: .*exceeds block gas limit/,
    );
    mode = 'cut';
    await expect(sendEnvelope(context, chain, envelope)).rejects.toThrow(TransactionRejected);
    mode = { code: -32_000, message: 'Upfront cost exceeds account balance' };
    await world.setBalance(world.relayer, 1n);
    await expect(sendEnvelope(context, chain, envelope)).rejects.toThrow(
      `insufficient funds: relayer ${world.relayer} on Own Chain (41192); fund it`,
    );
    await world.fundRelayer();
    mode = 'takes';
    expect(await follow(ref, envelopeId)).toMatchObject(executed);
  });
});

describe('a payment whose node took it, and whose answer was lost', () => {
  const some = Array.from({ length: DEEP ? 40 : 5 }, () => requireRow(REFUSALS[random(REFUSALS.length)]));

  test.each<[string, Mode]>([
    ['OldNonce, Current nonce: 9, nonce of rejected tx: 8', { code: -32_010, message: 'OldNonce' }],
    ['no answer at all', 'cut'],
    ...some.map((refusal): [string, Mode] => [`${refusal.code} ${refusal.message}`, refusal]),
  ])('is found, and those behind it are sent, though the node then says: %s', async (_, says) => {
    const first = await payment();
    const second = await payment();
    const context = startedContext();
    mode = 'lost';
    const following = [first, second].map(({ ref, envelopeId }) => follow(ref, envelopeId, context));
    await until('it is in a block', async () => {
      const receipt = await rpc(world.url, 'eth_getTransactionReceipt', [first.envelope.transactionHash]);
      return receipt !== null;
    });
    mode = says;
    await until('it was sent again', async () => sends > 1);
    const others = rpc(world.url, 'eth_sendRawTransaction', [second.envelope.rawTransaction]);
    await others.catch(() => undefined);
    await world.mine(2);
    expect(await Promise.all(following)).toMatchObject([executed, executed]);
    expect(methods.get('eth_getTransactionReceipt')).toBeGreaterThan(0);
    for (const { ref } of [first, second]) await world.execute(ref);
  });

  test('is found after a restart before its confirmation', async () => {
    const { ref, envelopeId, envelope } = await payment();
    await rpc(world.url, 'eth_sendRawTransaction', [envelope.rawTransaction as Hex]);
    mode = { code: -32_000, message: 'context deadline exceeded' };
    const following = follow(ref, envelopeId);
    await until('it was sent again', async () => sends > 0);
    await world.mine(2);
    expect(await following).toMatchObject(executed);
    expect(await world.envelopes(ref)).toHaveLength(1);
  });
});

test('is found where somebody else has carried it, while the node refuses our own bytes', async () => {
  const { ref, envelopeId, envelope } = await payment();
  mode = { code: -32_603, message: 'Internal error' };
  const following = follow(ref, envelopeId);
  await until('it was refused', async () => sends > 0);
  const { to, data } = parseTransaction(envelope.rawTransaction as Hex);
  await sendAsFunder(world.url, { to: to as Address, data: data as Hex });
  await world.mine(2);
  expect(await following).toMatchObject(executed);
});
