import { createPublicClient, http as rpcTransport } from 'viem';
import {
  fundRelayers,
  sign,
  startTestService,
  type TestOrganization,
  type TestService,
} from '../support/service';
import { networksFile, sharedStack, startOwnChain } from '../support/stack';
import { until } from '../support/until';

const STEADY_ID = 31_337;
const SHAKY_ID = 41_021;

let shaky: Awaited<ReturnType<typeof startOwnChain>>;
let service: TestService;
let org: TestOrganization;

beforeAll(async () => {
  shaky = await startOwnChain(SHAKY_ID);
  const steady = sharedStack().chains.find(({ chainId }) => chainId === STEADY_ID);
  const file = networksFile([
    { id: STEADY_ID, name: 'Steady', rpcUrl: steady?.rpcUrl },
    { id: SHAKY_ID, name: 'Shaky', rpcUrl: shaky.current.rpcUrl },
  ]);
  service = await startTestService({ env: { NETWORKS_FILE: file } });
  org = await service.createOrganization();
}, 60_000);
afterAll(async () => {
  await service?.stop();
  await shaky?.stop();
});

/** Starts the chain that was killed. It stores its state once a second: the relayer's funds may be lost. */
async function startShaky(): Promise<void> {
  await shaky.start();
  await fundRelayers(service.db, service.config);
}

async function proposal(id: string) {
  return (await service.http.send({ key: org.readKey, path: `/api/v1/accounts/proposals/${id}` })).body.data;
}

async function approved(name: string) {
  const created = await service.http.send({
    key: org.adminKey,
    path: '/api/v1/accounts/proposals/create',
    body: { items: [{ name, networkIds: [STEADY_ID, SHAKY_ID] }] },
  });
  expect(created.status).toBe(201);
  await sign(service.http, org.adminKey, created.body.data, org.alice);
  return created.body.data;
}

function statusOf(found: { deployments: { networkId: number }[] }, networkId: number) {
  return found.deployments.find((deployment) => deployment.networkId === networkId);
}

async function codeAt(address: string): Promise<string | undefined> {
  const client = createPublicClient({ transport: rpcTransport(shaky.current.rpcUrl) });
  return client.getCode({ address: address as `0x${string}` });
}

test('completes the available network, records what is missing, and retries only that', async () => {
  const open = await approved('Treasury');
  await shaky.kill();
  const begunAt = Date.now();
  const executed = await sign(service.http, org.adminKey, open, org.bob, 'approve', { execute: true });
  expect(executed.status).toBe(200);
  const waiting = await until('the record says what it waits for', async () => {
    const found = await proposal(open.id);
    return JSON.stringify(found).includes('Shaky (41021) is unavailable') && found;
  });
  expect(waiting.executionStatus).toBe('processing');
  const failed = await until(
    'the execution has failed',
    async () => {
      const found = await proposal(open.id);
      return found.executionStatus === 'failed' && found;
    },
    45_000,
  );
  // About 20 s of patience: nothing is signed for that network yet.
  expect(Date.now() - begunAt).toBeGreaterThan(18_000);
  expect(failed.failure).toMatchObject({ code: 'rpc', message: expect.stringContaining('Shaky') });
  expect(statusOf(failed, STEADY_ID)).toMatchObject({ status: 'completed' });
  expect(statusOf(failed, SHAKY_ID)).toMatchObject({ status: 'failed', failure: { code: 'rpc' } });

  await startShaky();
  const again = await service.http.send({
    key: org.adminKey,
    path: `/api/v1/accounts/proposals/${open.id}/execute`,
    body: { type: 'approve' },
  });
  expect(again.status).toBe(200);
  const done = await until('the execution is complete', async () => {
    const found = await proposal(open.id);
    return found.executionStatus === 'completed' && found;
  });
  expect(statusOf(done, STEADY_ID)).toEqual(statusOf(failed, STEADY_ID));
  const [{ uri }] = done.result.resources;
  const account = (await service.http.send({ key: org.readKey, path: uri })).body.data;
  expect(account.networks.map(({ id }: { id: number }) => id)).toEqual([STEADY_ID, SHAKY_ID]);
  expect(await codeAt(account.address)).toMatch(/^0x.+/);
  const envelopes = await service.db('chain_envelopes').where({ network_id: BigInt(STEADY_ID) });
  expect(envelopes).toHaveLength(1);
}, 120_000);

test('waits for a network that becomes unavailable after signing, and its stored bytes are included', async () => {
  const open = await approved('Reserve');
  // No block is made, so that the signed envelope is out when the chain dies, and is lost with it.
  const rpcUrl = shaky.current.rpcUrl;
  const call = (method: string, params: unknown[]) =>
    fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
  await call('evm_setAutomine', [false]);
  await sign(service.http, org.adminKey, open, org.bob, 'approve', { execute: true });
  const [envelope] = await until('an envelope was sent', async () => {
    const rows = await service
      .db('chain_envelopes')
      .where({ network_id: BigInt(SHAKY_ID), outcome: null })
      .whereNotNull('sent_at');
    return rows.length > 0 && rows;
  });
  await shaky.kill();
  const waiting = await until('the record says what it waits for', async () => {
    const found = await proposal(open.id);
    return JSON.stringify(found).includes('Shaky (41021) is unavailable') && found;
  });
  expect(waiting.executionStatus).toBe('processing');
  await startShaky();
  const done = await until('the execution is complete', async () => {
    const found = await proposal(open.id);
    return found.executionStatus === 'completed' && found;
  });
  expect(statusOf(done, SHAKY_ID)).toMatchObject({ transactionHash: envelope?.transaction_hash });
}, 120_000);
