import type { Address } from 'viem';
import { createChainClient } from '../../src/chain/clients';
import { executionAtNonce } from '../../src/chain/executions';
import { anAddress } from '../support/builders';
import { random } from '../support/random';
import { REFUSALS } from '../support/refusals';
import { type RpcProxy, startRpcProxy } from '../support/rpcProxy';
import { type TestAccount, TransactionWorld } from './transactionWorld';

let world: TransactionWorld;
let proxy: RpcProxy;
let account: TestAccount;
/** For how many blocks the node answers with logs, and how many calls it takes in a batch. */
let limits = { blocks: 0n, calls: 0 };
let refused = { logs: 0, batches: 0 };
const payee = anAddress() as Address;

beforeAll(async () => {
  world = await TransactionWorld.start(41_194);
  proxy = await startRpcProxy(world.url, async (body, pass) => {
    const error = REFUSALS[random(REFUSALS.length)];
    const sent = JSON.parse(body);
    if (Array.isArray(sent)) {
      if (sent.length <= limits.calls) return pass();
      refused.batches += 1;
      return JSON.stringify({ jsonrpc: '2.0', id: null, error });
    }
    const { id, method, params } = sent;
    if (method !== 'eth_getLogs') return pass();
    if (BigInt(params[0].toBlock) - BigInt(params[0].fromBlock) < limits.blocks) return pass();
    refused.logs += 1;
    return JSON.stringify({ jsonrpc: '2.0', id, error });
  });
  account = await world.account();
  await world.execute(await world.transaction({ to: payee, value: 5n }, { account }));
  for (let blocks = 0; blocks < 1_500; blocks += 100) await world.mine(100);
});
afterAll(async () => {
  await proxy?.stop();
  await world?.stop();
});

test.each([5n, 10n, 500n, 10_000n])(
  'an old execution is found where a node answers for %d blocks',
  async (blocks) => {
    limits = { blocks, calls: 1 };
    refused = { logs: 0, batches: 0 };
    const chain = createChainClient({ ...world.network, rpcUrls: [proxy.url] });
    const toBlock = await chain.rpc.getBlockNumber();
    const search = { account: account.address, nonce: 0n, fromBlock: 0n, toBlock };
    for (const _ of ['learning', 'remembering']) {
      expect(await executionAtNonce(chain, search)).toMatchObject({ kind: 'success' });
    }
    expect(refused.logs).toBeLessThanOrEqual(8);
  },
);

test.each([1, 3])(
  'a payment is made through a node that takes %d calls in a batch, and few blocks',
  async (calls) => {
    limits = { blocks: 10n, calls };
    refused = { logs: 0, batches: 0 };
    const there = world.chainWith({ rpcUrls: [proxy.url], rpcBatchSize: 20 });
    const ref = await world.transaction({ to: payee, value: 1n }, { account });
    const input = { ...ref, networkId: world.network.id, cancel: false };
    const seen = await there.prepareTransaction(input);
    expect(seen.kind).toBe('needsEnvelope');
    expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await there.prepareTransaction(input)).toMatchObject({ kind: 'decided' });
    expect(refused.batches).toBeGreaterThan(0);
    expect(refused.batches).toBeLessThanOrEqual(5);
  },
);
