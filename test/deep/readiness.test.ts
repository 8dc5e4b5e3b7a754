import { type ServiceProcess, startServiceProcess } from '../support/process';
import { databaseSettings, serviceSettings } from '../support/service';
import { asAdmin, createTestDatabase, sharedStack, startOwnTemporal } from '../support/stack';
import { until } from '../support/until';

const LIMIT_MS = 180_000;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let temporal: Awaited<ReturnType<typeof startOwnTemporal>>;
let service: ServiceProcess;

const answer = () => fetch(`http://127.0.0.1:${service.config.ops.port}/readyz`);

/** Waits until the process says that it is ready, or that these parts keep it from being. */
async function untilUnavailable(...names: readonly string[]): Promise<void> {
  await until(`unavailable: ${names.join(', ') || 'nothing'}`, async () => {
    const response = await answer();
    const { unavailable } = (await response.json()) as { unavailable: string[] };
    const isExpected = JSON.stringify(unavailable.sort()) === JSON.stringify([...names].sort());
    return isExpected && response.status === (names.length === 0 ? 200 : 503);
  });
}

/** What sessions that begin now may do; those that are open are ended. */
async function setReadOnly(login: string | undefined, value: 'on' | 'off'): Promise<void> {
  await asAdmin(sharedStack().databaseAdminUrl, async (client) => {
    const whose = login ? `ROLE ${login} IN DATABASE ${database.name}` : `DATABASE ${database.name}`;
    await client.query(`ALTER ${whose} SET default_transaction_read_only = ${value}`);
    await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [
      database.name,
    ]);
  });
}

beforeAll(async () => {
  database = await createTestDatabase();
  temporal = await startOwnTemporal();
  const settings = await serviceSettings({
    database: databaseSettings(database),
    env: { TEMPORAL_ADDRESS: temporal.current.address },
  });
  service = await startServiceProcess(settings, { roles: ['api', 'worker', 'chain', 'signer'] });
}, LIMIT_MS);
afterAll(async () => {
  await service?.stop();
  await temporal?.stop();
  await database?.drop();
});

test(
  'a process is ready while each of its logins can write and Temporal answers',
  async () => {
    await untilUnavailable();
    await setReadOnly(undefined, 'on');
    await untilUnavailable('database', 'journal', 'signerDatabase');
    await setReadOnly(undefined, 'off');
    await untilUnavailable();
    await setReadOnly('orgwallet_signer', 'on');
    await untilUnavailable('signerDatabase');
    await setReadOnly('orgwallet_signer', 'off');
    await untilUnavailable();
    await temporal.stop();
    await untilUnavailable('temporal');
    await temporal.start();
    await untilUnavailable();
  },
  LIMIT_MS,
);
