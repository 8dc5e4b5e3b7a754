import type { Role } from '../../src/config';
import { json } from '../cli/command';
import { PROPOSE, type Shown } from '../support/api';
import { anAddress } from '../support/builders';
import { makePayingOrganization } from '../support/payingOrganization';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import { databaseSettings, serviceSettings, type TestOrganization } from '../support/service';
import { copyDatabase, createTestDatabase, startOwnPostgres } from '../support/stack';
import {
  aTransactionBody,
  executeTransaction,
  initiate,
  settledTransaction,
} from '../support/transactionApi';
import { NETWORK_ID } from '../support/transactions';
import { until } from '../support/until';

const ROLES: readonly Role[] = ['api', 'worker', 'chain', 'signer'];
const LIMIT_MS = 300_000;
/** How long the API stays closed after Postgres was started again: the signer looks every 2 s. */
const OPEN_WITHIN_MS = 20_000;

/** An organization with an account that pays, at a service. */
async function found(service: ServiceProcess) {
  const { org, account, policies } = await makePayingOrganization(service);
  const pay = async (): Promise<Shown> => {
    const body = aTransactionBody(org, { account, policy: policies.auto, to: anAddress() as `0x${string}` });
    const transaction = await initiate(service.http, org, body);
    await executeTransaction(service.http, org, transaction);
    return settledTransaction(service.http, org, transaction);
  };
  return { org, pay };
}

const payment = (service: ServiceProcess, org: TestOrganization, { id }: Shown) =>
  service.http.send({ key: org.readKey, path: `/api/v1/transactions/${id}` });

/** Every request is refused with a reason. */
async function expectClosed(service: ServiceProcess, org: TestOrganization, paid: Shown, reason: RegExp) {
  const body = { items: [{ name: 'Lost', networkIds: [NETWORK_ID] }] };
  const answers = [
    await payment(service, org, paid),
    await service.http.send({ key: org.adminKey, path: PROPOSE, body }),
    await service.http.send({ key: 'ow_live_nobody', path: '/api/v1/members' }),
  ];
  for (const answer of answers) {
    expect([answer.status, answer.body.code]).toEqual([503, 'notReconciled']);
    expect(answer.body.message).toMatch(reason);
  }
  const ready = await fetch(`http://127.0.0.1:${service.config.ops.port}/readyz`);
  expect(ready.status).toBe(503);
  expect(JSON.stringify(await ready.json())).toMatch(reason);
}

test(
  'a database that was rolled back answers nothing until it is written back',
  async () => {
    const database = await createTestDatabase();
    const backup = `${database.name}_backup`;
    const settings = await serviceSettings({
      database: databaseSettings(database),
      env: { RECONCILE_EVERY: '2s' },
    });
    const service = await startServiceProcess(settings, { roles: ROLES });
    const { org, pay } = await found(service);
    await pay();
    await service.stop();
    await copyDatabase(database.name, backup);
    await service.start();
    const lost = await pay();
    expect(lost.executionStatus).toBe('completed');
    await service.stop();

    await copyDatabase(backup, database.name);
    const alone = await startServiceProcess({ ...settings }, { roles: ['api'], isClosed: true });
    await expectClosed(alone, org, lost, /the signer has not compared it/);
    await alone.stop();

    await service.startClosed();
    await until('the signer has compared', async () => {
      const { body } = await payment(service, org, lost);
      return /rolled back/.test(body.message);
    });
    await expectClosed(service, org, lost, /lacks 1 authorization of the journal: txn_/);
    await service.stop();

    await json(service.env, 'signer', 'reconcile-restore', '--write');
    await service.start();
    expect((await payment(service, org, lost)).status).toBe(200);
    expect(await settledTransaction(service.http, org, lost)).toMatchObject({ executionStatus: 'completed' });
    await service.stop();
    await database.drop();
  },
  LIMIT_MS,
);

test(
  'a server that is started again is compared, and answers within seconds',
  async () => {
    const postgres = await startOwnPostgres();
    const settings = await serviceSettings({ database: databaseSettings(postgres.database) });
    const service = await startServiceProcess(settings, { roles: ROLES });
    const { org, pay } = await found(service);
    const paid = await pay();
    await postgres.kill();
    await postgres.start();
    const statuses = new Set<number>();
    await until(
      'it answers again',
      async () => {
        const { status } = await payment(service, org, paid);
        statuses.add(status);
        return status === 200;
      },
      OPEN_WITHIN_MS,
    );
    expect([...statuses].filter((status) => ![200, 500, 503].includes(status))).toEqual([]);
    expect((await pay()).executionStatus).toBe('completed');
    await service.stop();
    await postgres.stop();
  },
  LIMIT_MS,
);
