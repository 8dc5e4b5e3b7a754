import { randomUUID } from 'node:crypto';
import { type Loaded, SteadyLoad } from '../chaos/steadyLoad';
import { anAddress } from '../support/builders';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import { connectTo, serviceSettings, type TestService } from '../support/service';
import { startTemporalRelease } from '../support/temporalRelease';
import { aTransactionBody, TRANSACTIONS } from '../support/transactionApi';
import { makePayer } from '../workflows/transactionWorld';

const NETWORK_ID = 31_337;

const processes: ServiceProcess[] = [];
let apis: TestService[];
let temporal: Awaited<ReturnType<typeof startTemporalRelease>>;
let loaded: Loaded;

/** Two of each role; one signer, because another one would wait for the lease. */
const ROLES = ['signer', 'chain', 'chain', 'worker', 'worker', 'api', 'api'] as const;

beforeAll(async () => {
  temporal = await startTemporalRelease();
  const settings = await serviceSettings({
    env: { SHUTDOWN_DELAY: '2s', TEMPORAL_ADDRESS: temporal.address },
  });
  for (const role of ROLES) processes.push(await startServiceProcess(settings, { roles: [role] }));
  apis = processes.filter(({ config }) => config.roles.includes('api')).map(({ env }) => connectTo(env));
  const [api] = apis as [TestService];
  const org = await api.createOrganization();
  loaded = { apis, org, payer: await makePayer(api, org, NETWORK_ID), networkId: NETWORK_ID };
}, 1_800_000);
afterAll(async () => {
  await Promise.all(processes.map((one) => one.stop()));
  await Promise.all(apis.map((api) => api.stop()));
  await temporal?.part.stop();
});

test('each process is restarted under load: no request fails, and everything is paid once', async () => {
  const load = new SteadyLoad(loaded);
  load.start();
  try {
    for (const one of processes) {
      await one.stop();
      await one.start();
    }
  } finally {
    await load.stop();
  }
  expect(load.paid.length).toBeGreaterThan(20);
  await load.expectPaidOnce();
  console.info(`${load.paid.length} payments while ${processes.length} processes were restarted`);
}, 600_000);

test('one idempotency key counts over all processes', async () => {
  const { org, payer } = loaded;
  const body = aTransactionBody(org, { ...payer, to: anAddress() }, { networkId: NETWORK_ID });
  const ask = { key: org.readKey, path: TRANSACTIONS, body, idempotencyKey: randomUUID() };
  const asked = [...apis, ...apis, ...apis].map(({ http }) => http.send(ask));
  const created = (await Promise.all(asked)).filter(({ status }) => status === 201);
  expect(created.length).toBeGreaterThan(0);
  expect(new Set(created.map(({ text }) => text)).size).toBe(1);
  const [again] = await Promise.all(apis.map(({ http }) => http.send(ask)));
  expect(again?.text).toBe(created[0]?.text);
});
