import { randomUUID } from 'node:crypto';
import { type Address, createPublicClient, http as rpcTransport } from 'viem';
import type { Shown } from '../support/api';
import { anAddress } from '../support/builders';
import type { Answer, Ask } from '../support/http';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import { connectTo, serviceSettings, type TestOrganization, type TestService } from '../support/service';
import { endpointOf } from '../support/stack';
import { aTransactionBody, signatureBody, TRANSACTIONS, transactionPath } from '../support/transactionApi';
import { until } from '../support/until';
import { makePayer } from '../workflows/transactionWorld';
import { expectSoundAudit } from '../workflows/world';

const NETWORK_ID = 31_337;
const LANES = 4;

let settings: NodeJS.ProcessEnv;
const processes: ServiceProcess[] = [];
/** The API processes, as their callers see them. */
let apis: TestService[];
let org: TestOrganization;
let payer: { account: Shown; policy: Shown };
/** What callers got that they must not get. */
const errors: string[] = [];
const paid: { readonly id: string; readonly to: string }[] = [];

/** Two of each role; one signer, because another one would wait for the lease. */
const ROLES = ['signer', 'chain', 'chain', 'worker', 'worker', 'api', 'api'] as const;

beforeAll(async () => {
  settings = await serviceSettings({ env: { SHUTDOWN_DELAY: '2s' } });
  for (const role of ROLES) processes.push(await startServiceProcess(settings, { roles: [role] }));
  apis = processes.filter(({ config }) => config.roles.includes('api')).map(({ env }) => connectTo(env));
  const [api] = apis as [TestService];
  org = await api.createOrganization();
  payer = await makePayer(api, org, NETWORK_ID);
}, 180_000);
afterAll(async () => {
  await Promise.all(processes.map((one) => one.stop()));
  await Promise.all(apis.map((api) => api.stop()));
});

/** An API process that says that it is ready, as a load balancer finds it. */
function readyApi(): Promise<TestService> {
  return until('an API process is ready', async () => {
    const asked = apis.map(async (api) => {
      const { ok } = await fetch(`http://127.0.0.1:${api.config.ops.port}/readyz`);
      return ok ? [api] : [];
    });
    const ready = (await Promise.all(asked.map((one) => one.catch(() => [])))).flat();
    return ready[Math.floor(Math.random() * ready.length)];
  });
}

async function send(ask: Ask): Promise<Answer | undefined> {
  const api = await readyApi();
  try {
    const answer = await api.http.send(ask);
    if (answer.status >= 300) errors.push(`${ask.path} → ${answer.status} ${answer.text}`);
    return answer.status < 300 ? answer : undefined;
  } catch (error) {
    errors.push(`${ask.path}: ${error}`);
    return undefined;
  }
}

/** Pays 1 wei to somebody new. */
async function pay(): Promise<void> {
  const to = anAddress();
  const body = aTransactionBody(org, { ...payer, to }, { networkId: NETWORK_ID });
  const created = await send({ key: org.readKey, path: TRANSACTIONS, body });
  if (!created) return;
  const transaction = created.body.data;
  paid.push({ id: transaction.id, to });
  await send({
    key: org.readKey,
    path: transactionPath(transaction.id, '/signatures'),
    body: await signatureBody(transaction, org.dave, 'initiator', { execute: true }),
  });
}

test('each process is restarted under load: no request fails, and everything is paid once', async () => {
  let restarting = true;
  const lane = async () => {
    while (restarting) await pay();
  };
  const lanes = Array.from({ length: LANES }, lane);
  try {
    for (const one of processes) {
      await one.stop();
      await one.start();
    }
  } finally {
    restarting = false;
    await Promise.all(lanes);
  }
  expect(errors).toEqual([]);
  expect(paid.length).toBeGreaterThan(20);
  const [api] = apis as [TestService];
  const network = api.config.networks.find(({ id }) => id === NETWORK_ID);
  const chain = createPublicClient({ transport: rpcTransport(network ? endpointOf(network) : '') });
  for (const { id, to } of paid) {
    await until(`${id} is paid`, async () => {
      const { body } = await api.http.send({ key: org.readKey, path: transactionPath(id) });
      return body.data.executionStatus === 'completed';
    });
    expect(await chain.getBalance({ address: to as Address })).toBe(1n);
  }
  console.info(`${paid.length} payments while ${processes.length} processes were restarted`);
  await expectSoundAudit(api.db, org);
}, 600_000);

test('one idempotency key counts over all processes', async () => {
  const body = aTransactionBody(org, { ...payer, to: anAddress() }, { networkId: NETWORK_ID });
  const ask = { key: org.readKey, path: TRANSACTIONS, body, idempotencyKey: randomUUID() };
  const asked = [...apis, ...apis, ...apis].map(({ http }) => http.send(ask));
  const created = (await Promise.all(asked)).filter(({ status }) => status === 201);
  expect(created.length).toBeGreaterThan(0);
  expect(new Set(created.map(({ text }) => text)).size).toBe(1);
  const [again] = await Promise.all(apis.map(({ http }) => http.send(ask)));
  expect(again?.text).toBe(created[0]?.text);
});
