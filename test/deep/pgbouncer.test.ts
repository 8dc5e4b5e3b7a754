import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { loadConfig } from '../../src/config';
import { createLogger } from '../../src/logging';
import { startService } from '../../src/service';
import { type Part, startPart, untilReady } from '../../tools/dev/parts';
import { anAddress } from '../support/builders';
import { databaseSettings, serviceSettings, type TestOrganization } from '../support/service';
import { createTestDatabase, freePorts, sharedStack, temporaryDir } from '../support/stack';
import { aTransactionBody, createTransaction, settledTransaction, signed } from '../support/transactionApi';
import { makePayer } from '../workflows/transactionWorld';
import { expectSoundAudit, startWorld, type World } from '../workflows/world';

const NETWORK_ID = 31_337;
const LOGINS = ['orgwallet_service', 'orgwallet_signer'];
const SETTINGS = [
  ['TimeZone', 'UTC'],
  ['statement_timeout', '8s'],
  ['idle_in_transaction_session_timeout', '30s'],
];

type Database = Awaited<ReturnType<typeof createTestDatabase>>;

let database: Database;
let configured: Awaited<ReturnType<typeof configurePooler>>;
let pooler: Part;
let env: NodeJS.ProcessEnv;

/** Installs Debian's package where it is missing. Throws when it cannot be had here. */
function installed(): string {
  const has = () => spawnSync('pgbouncer', ['--version'], { encoding: 'utf8' });
  if (has().status === 0) return 'pgbouncer';
  for (const args of [['update'], ['install', '--yes', '--no-install-recommends', 'pgbouncer']]) {
    const done = spawnSync('apt-get', args, {
      encoding: 'utf8',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
    });
    if (done.status !== 0) throw new Error(`PgBouncer is needed (apt-get install pgbouncer): ${done.stderr}`);
  }
  const found = has();
  if (found.status !== 0) throw new Error(`PgBouncer does not run: ${found.stderr}`);
  return 'pgbouncer';
}

/** Starts PgBouncer in transaction mode before the shared Postgres. Fewer connections to the server than to it. */
async function configurePooler(): Promise<{ start(): Promise<Part>; through(url: string): string }> {
  const program = installed();
  const dir = temporaryDir();
  const [port] = await freePorts(1);
  const { host, port: serverPort } = new Client({ connectionString: database.url });
  const users = [database.serviceUrl, database.signerUrl].map((url) => {
    const { user, password } = new Client({ connectionString: url });
    return `"${user}" "${password ?? ''}"`;
  });
  mkdirSync(join(dir, 'pgbouncer'));
  const file = (name: string) => join(dir, 'pgbouncer', name);
  writeFileSync(file('users.txt'), users.join('\n'));
  writeFileSync(
    file('pgbouncer.ini'),
    [
      '[databases]',
      `* = host=${host} port=${serverPort}`,
      '[pgbouncer]',
      ...['listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir ='],
      ...['auth_type = trust', `auth_file = ${file('users.txt')}`],
      ...['pool_mode = transaction', 'default_pool_size = 4', 'max_client_conn = 200'],
    ].join('\n'),
  );
  spawnSync('chmod', ['-R', 'a+rX', dir]);
  const asRoot = process.getuid?.() === 0;
  const through = (url: string) => {
    const { user, password, database: name } = new Client({ connectionString: url });
    return `postgresql://${user}:${password}@127.0.0.1:${port}/${name}`;
  };
  return {
    through,
    async start() {
      const part = startPart({
        name: 'PgBouncer',
        command: program,
        args: [...(asRoot ? ['-u', 'postgres'] : []), file('pgbouncer.ini')],
        logFile: join(temporaryDir(), 'pgbouncer.log'),
        stopSignal: 'SIGINT',
        stopLimitMs: 5_000,
      });
      await untilReady(part, 10_000, async () => {
        const client = new Client({ connectionString: through(database.serviceUrl) });
        await client.connect();
        await client.end();
      });
      return part;
    },
  };
}

beforeAll(async () => {
  database = await createTestDatabase();
  configured = await configurePooler();
  pooler = await configured.start();
  const { url, serviceUrl, signerUrl } = database;
  env = {
    DATABASE_POOLER: 'transaction',
    DATABASE_LISTEN_URL: serviceUrl,
    ...databaseSettings({
      url,
      serviceUrl: configured.through(serviceUrl),
      signerUrl: configured.through(signerUrl),
    }),
  };
}, 300_000);
afterAll(async () => {
  await pooler?.stop();
  await database?.drop();
});

it('is refused at the start while the logins lack their settings', async () => {
  const settings = await serviceSettings({ database: env, env });
  const started = startService(loadConfig(settings), createLogger('silent'));
  await expect(started).rejects.toThrow(
    /DATABASE_POOLER: TimeZone is .*: ALTER ROLE orgwallet_signer IN DATABASE/,
  );
});

describe('with their settings', () => {
  let world: World;
  let org: TestOrganization;

  beforeAll(async () => {
    const admin = new Client({ connectionString: sharedStack().databaseAdminUrl });
    await admin.connect();
    for (const login of LOGINS) {
      for (const [name, value] of SETTINGS) {
        await admin.query(`ALTER ROLE ${login} IN DATABASE ${database.name} SET ${name} = '${value}'`);
      }
    }
    await admin.end();
    // Connections to the server that were opened before do not have them.
    await pooler.stop();
    pooler = await configured.start();
    world = await startWorld({ database: env, env });
    org = await world.createOrganization();
  }, 120_000);
  afterAll(() => world?.stop());

  it('proposals and payments, many at once, work as without it', async () => {
    const { http, db } = world;
    const payer = await makePayer(world, org, NETWORK_ID);
    const paid = await Promise.all(
      Array.from({ length: 16 }, async () => {
        const body = aTransactionBody(org, { ...payer, to: anAddress() }, { networkId: NETWORK_ID });
        const transaction = await createTransaction(http, org, body);
        // On a busy machine the response comes before the end.
        await signed(http, org, transaction, org.dave, 'initiator', { execute: true });
        return settledTransaction(http, org, transaction);
      }),
    );
    expect(paid.map(({ executionStatus }) => executionStatus)).toEqual(Array(16).fill('completed'));
    await expectSoundAudit(db, org);
  }, 180_000);
});
