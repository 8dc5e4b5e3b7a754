import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { generate } from 'selfsigned';
import { checkAccountNetworks, checkLogin, checkNotifications } from '../../src/cli/doctor/databaseChecks';
import { COMPUTING_LIMIT_MS, runCheck } from '../../src/cli/doctor/finding';
import { checkKeystore } from '../../src/cli/doctor/keystoreChecks';
import { checkApi, checkCertificate } from '../../src/cli/doctor/serviceChecks';
import type { Config } from '../../src/config';
import { countAccountsByNetwork } from '../../src/db/accounts';
import { createDatabase, type Db, serverOf } from '../../src/db/database';
import { createOrOpenKeystore } from '../../src/signer/keys/keystore';
import { asAdmin, createTestDatabase, sharedStack, temporaryDir } from '../support/stack';
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy';

const TODO = 'change something';
const DELAY_MS = 150;
const KEYS = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let slow: TcpProxy;
let slowUrl: string;
const pools: Db[] = [];

function open(url: string, throughPooler = false): Db {
  const db = createDatabase(url, { poolMax: 1, throughPooler });
  pools.push(db);
  return db;
}

/** The same database and login, at another port. */
function throughPort(url: string, port: number): string {
  const { user, password, database: name } = new Client({ connectionString: url });
  return `postgres://${user}:${password}@127.0.0.1:${port}/${name}`;
}

const statuses = (findings: readonly { part: string; status: string }[]) =>
  findings.map(({ part, status }) => `${part} ${status}`);

beforeAll(async () => {
  database = await createTestDatabase();
  slow = await startTcpProxy(serverOf(database.serviceUrl), { delayMs: DELAY_MS });
  slowUrl = throughPort(database.serviceUrl, slow.port);
});
afterAll(async () => {
  await Promise.all(pools.map((db) => db.destroy()));
  slow?.close();
  await database?.drop();
});

describe('the certificate of the API', () => {
  const certificate = async (options: Partial<Parameters<typeof generate>[1]> = {}) => {
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
      ...KEYS,
      ...options,
    });
    return { cert, key };
  };

  test.each([0, 2_000])('may be issued by a CA, and is compared, after %i ms', async (delayMs) => {
    const ca = await certificate({ extensions: [{ name: 'basicConstraints', cA: true, critical: true }] });
    const [own, other] = [await certificate({ ca }), await certificate({ ca })];
    const certFile = join(temporaryDir(), 'cert.pem');
    const server = createServer(own, (_request, response) => {
      setTimeout(() => response.end('{}'), delayMs);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const config = {
      production: true,
      tlsEndsAtProxy: false,
      httpsHost: '127.0.0.1',
      httpsPort: (server.address() as AddressInfo).port,
      tls: { certFile },
    } as unknown as Config;
    writeFileSync(certFile, `${own.cert}\n${ca.cert}`);
    expect(statuses(await checkApi(config))).toEqual(['api ok']);
    expect(statuses(await checkCertificate(config, Date.now))).toEqual(['certificate ok']);
    writeFileSync(certFile, `${other.cert}\n${ca.cert}`);
    const [api] = await checkApi(config);
    expect(api).toMatchObject({ status: 'fail', found: expect.stringMatching(/serves another certificate/) });
    server.close();
  });
});

describe('a login through a pooler', () => {
  const grant = (statement: string) =>
    asAdmin(sharedStack().databaseAdminUrl, async (client) => {
      await client.query(`ALTER ROLE orgwallet_service IN DATABASE ${database.name} ${statement}`);
    });

  it('lacks the settings of a session, or has them, however slow the way is', async () => {
    const [missing] = await checkLogin(open(database.serviceUrl, true), 'orgwallet_service');
    expect(missing).toMatchObject({
      part: 'pooler',
      status: 'fail',
      found: expect.stringMatching(/ALTER ROLE/),
    });
    await grant("SET TimeZone = 'UTC'");
    await grant("SET statement_timeout = '8s'");
    await grant("SET idle_in_transaction_session_timeout = '30s'");
    const db = open(slowUrl, true);
    const found = await runCheck('login', TODO, () => checkLogin(db, 'orgwallet_service'));
    expect(statuses(found)).toEqual(['login ok']);
  });
});

describe('notifications', () => {
  const check = (url: string | undefined) =>
    runCheck('notifications', TODO, () => checkNotifications(open(database.serviceUrl), url));

  it('arrive, also on a slow way, or the check says that they do not', async () => {
    expect(statuses(await check(database.serviceUrl))).toEqual(['notifications ok']);
    expect(statuses(await check(slowUrl))).toEqual(['notifications ok']);
    expect(statuses(await check(undefined))).toEqual(['notifications ok']);
    const dead = throughPort(database.serviceUrl, 1);
    expect(await check(dead)).toEqual([
      {
        part: 'notifications',
        status: 'fail',
        found: expect.stringMatching(/cannot be reached/),
        todo: TODO,
      },
    ]);
    const elsewhere = (await createTestDatabase()).serviceUrl;
    expect(await check(elsewhere)).toEqual([
      { part: 'notifications', status: 'fail', found: expect.stringMatching(/did not arrive/), todo: TODO },
    ]);
  });
});

describe('accounts on networks that are not configured', () => {
  it('are named', async () => {
    const owner = open(database.url);
    await owner.raw('ALTER TABLE account_networks DROP CONSTRAINT account_networks_account_id_fkey');
    await owner.raw(
      `INSERT INTO account_networks (account_id, network_id) VALUES ('acc_1', 5), ('acc_2', 5), ('acc_2', 6)`,
    );
    expect(await countAccountsByNetwork(open(database.serviceUrl))).toEqual([
      { networkId: 5, accounts: 2 },
      { networkId: 6, accounts: 1 },
    ]);
    const db = open(slowUrl);
    expect(await checkAccountNetworks(db, [{ id: 5 }, { id: 6 }])).toEqual([]);
    expect(await checkAccountNetworks(db, [{ id: 6 }])).toEqual([
      expect.objectContaining({
        part: 'network 5',
        status: 'fail',
        found: '2 accounts are on it, and it is not configured',
      }),
    ]);
  });
});

describe('the keystore', () => {
  it('opens on a slow machine, and nothing advises to change it where it is only late', async () => {
    const file = join(temporaryDir(), 'keystore.json');
    const passphrase = 'correct horse battery staple';
    await createOrOpenKeystore({ file, passphrase, cost: 2 ** 18 });
    const check = (limitMs: number) =>
      runCheck('keystore', TODO, () => checkKeystore({ file, passphrase }, []), limitMs);
    expect((await check(COMPUTING_LIMIT_MS))[0]).toMatchObject({ part: 'keystore', status: 'ok' });
    const [late] = await check(1);
    expect(late).toMatchObject({
      status: 'warn',
      found: expect.stringMatching(/^slow: not finished/),
      todo: expect.stringMatching(/no setting of it is wrong$/),
    });
    const wrong = await runCheck(
      'keystore',
      TODO,
      () => checkKeystore({ file, passphrase: 'another passphrase' }, []),
      COMPUTING_LIMIT_MS,
    );
    expect(wrong).toMatchObject([{ status: 'fail', todo: TODO }]);
  });
});
