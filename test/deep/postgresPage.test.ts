import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Hex } from 'viem';
import { projectRoot } from '../../src/projectRoot';
import { type Part, startPart, untilReady } from '../../tools/dev/parts';
import { command, spawned, words } from '../cli/command';
import type { Shown } from '../support/api';
import { anAddress } from '../support/builders';
import { installPackages } from '../support/debianPackages';
import { blocksOf, codeBlocks, sectionBelow } from '../support/markdown';
import { makePayingOrganization, paymentChain } from '../support/payingOrganization';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import { serviceSettings, type TestOrganization } from '../support/service';
import { freePorts, temporaryDir } from '../support/stack';
import { openSwitchedPort, type SwitchedPort } from '../support/switchedPort';
import {
  aTransactionBody,
  executeTransaction,
  initiate,
  settledTransaction,
} from '../support/transactionApi';
import { until } from '../support/until';

const LIMIT_MS = 600_000;
const PASSWORD = 'of the standby and of each login';
const PAGE = readFileSync(join(projectRoot(), 'docs', 'postgres.md'), 'utf8');
const LOGINS = readFileSync(join(projectRoot(), 'docs', 'production.md'), 'utf8');

const block = blocksOf(PAGE);

/** A server of the page: another port of this machine. */
interface Host {
  readonly port: number;
  readonly data: string;
}

let dir: string;
let tls: string;
let primary: Host;
let standby: Host;
let poolerPort: number;
let nameOfPrimary: SwitchedPort;
let pooler: Part;
let service: ServiceProcess;
let org: TestOrganization;
let account: Shown;
let policy: Shown;
let recipients: Hex[] = [];

/** A command of the page with the hosts, addresses and passwords of this machine. */
function here(text: string): string {
  const name = String(nameOfPrimary.port);
  return text
    .replaceAll('@db.example/', `@localhost:${name}/`)
    .replaceAll('host=db.example', `host=localhost port=${name}`)
    .replaceAll('host=db-1.example', `host=localhost port=${primary.port}`)
    .replaceAll(/db(-\d)?\.example/g, 'localhost')
    .replaceAll('10.0.0.0/8', '127.0.0.0/8')
    .replaceAll('/etc/orgwallet/ca.pem', join(tls, 'ca.pem'))
    .replaceAll('/etc/postgresql/tls', tls)
    .replaceAll('/etc/pgbouncer', tls)
    .replaceAll('listen_port = 6432', `listen_port = ${poolerPort}`)
    .replaceAll('/mnt/backups', join(dir, 'backups'))
    .replaceAll('…', PASSWORD.replaceAll(' ', '_'));
}

/** Runs commands on a server, as its user, while this process leads connections to it. */
async function on(host: Host, commands: string): Promise<string> {
  const setting = [
    `export PGDATA=${host.data} PGPORT=${host.port} HOME=${dir} TLS=${tls} BACKUPS=${join(dir, 'backups')}`,
    'export PATH=/usr/lib/postgresql/15/bin:$PATH',
    `cd ${dir}`,
  ];
  const shell = ['-u', 'postgres', '--', 'bash', '-euo', 'pipefail', '-c'];
  const { status, stdout, stderr } = await spawned(
    {},
    'runuser',
    ...shell,
    [...setting, here(commands)].join('\n'),
  );
  if (status !== 0) throw new Error(`${commands}\n${stdout}${stderr}`);
  return stdout;
}

/** Leads the name of the primary to a server: connections that are open end, as with a load balancer. */
function lead(host: Host): void {
  nameOfPrimary.lead(host.port);
  nameOfPrimary.cut();
}

/** URLs of the logins: past PgBouncer, and through it. */
function url(login: string, port = nameOfPrimary.port): string {
  const password = PASSWORD.replaceAll(' ', '_');
  return `postgres://orgwallet_${login}:${password}@localhost:${port}/orgwallet?sslmode=verify-full&sslrootcert=${tls}/ca.pem`;
}

async function startPooler(): Promise<Part> {
  writeFileSync(join(tls, 'pgbouncer.ini'), here(block('PgBouncer', 'pool_mode', 'ini')));
  execFileSync('chown', ['-R', 'postgres', tls]);
  const part = startPart({
    name: 'PgBouncer',
    command: '/usr/sbin/pgbouncer',
    args: ['-u', 'postgres', join(tls, 'pgbouncer.ini')],
    logFile: join(temporaryDir(), 'pgbouncer.log'),
    stopSignal: 'SIGINT',
    stopLimitMs: 5_000,
  });
  await untilReady(part, 10_000, async () => {
    await on(primary, `psql '${url('service', poolerPort)}' -c 'SELECT 1'`);
  });
  return part;
}

/** PgBouncer and the service are started again, with the certificates that are there now. */
async function restarted(): Promise<void> {
  await service.stop();
  await pooler.stop();
  pooler = await startPooler();
  await service.start();
}

/** A payment of one wei that is completed. */
async function pay(): Promise<void> {
  const to = anAddress() as Hex;
  recipients = [...recipients, to];
  const { http } = service;
  const transaction = await initiate(http, org, aTransactionBody(org, { account, policy, to }));
  await executeTransaction(http, org, transaction);
  expect(await settledTransaction(http, org, transaction)).toMatchObject({ executionStatus: 'completed' });
}

/** Each was paid once. */
async function expectPaidOnce(): Promise<void> {
  const { client } = paymentChain(service);
  const balances = await Promise.all(recipients.map((address) => client.getBalance({ address })));
  expect(balances).toEqual(recipients.map(() => 1n));
}

async function expectNothingLacks(): Promise<void> {
  expect((await command(service.env, 'doctor')).stdout).toContain('the database has all of it');
}

beforeAll(async () => {
  if (process.getuid?.() !== 0) throw new Error('this test needs root: it runs Postgres as its own user');
  if (!['/usr/lib/postgresql/15/bin/initdb', '/usr/sbin/pgbouncer'].every((file) => existsSync(file))) {
    installPackages('postgresql-15', 'pgbouncer');
  }
  dir = temporaryDir();
  tls = join(dir, 'tls');
  const [one = 0, two = 0, three = 0] = await freePorts(3);
  primary = { port: one, data: join(dir, 'db-1') };
  standby = { port: two, data: join(dir, 'db-2') };
  poolerPort = three;
  for (const folder of [tls, join(dir, 'backups')]) mkdirSync(folder);
  for (let folder = dir; folder !== '/'; folder = join(folder, '..')) chmodSync(folder, 0o777);
  execFileSync('chown', ['-R', 'postgres', dir]);
  nameOfPrimary = await openSwitchedPort(primary.port);
  await on(
    primary,
    'initdb --auth-local=peer --auth-host=scram-sha-256 > /dev/null && pg_ctl start -w -l "$PGDATA.log"',
  );
}, LIMIT_MS);
afterAll(async () => {
  await service?.stop();
  await pooler?.stop();
  for (const host of [primary, standby]) {
    if (host && existsSync(join(host.data, 'postmaster.pid'))) await on(host, 'pg_ctl stop -m immediate');
  }
  nameOfPrimary?.close();
});

test(
  'the commands of the page lead from an empty server to a failover and a restore, and nothing is lost or paid twice',
  async () => {
    await on(
      primary,
      `cd ${tls}\n${block('Encrypt the connections', 'req -x509')}\ncp localhost.pem server.pem && cp localhost.key server.key`,
    );
    await on(primary, block('Encrypt the connections', 'SET ssl = on'));
    const [logins = ''] = codeBlocks(sectionBelow(LOGINS, 'Create the database logins'), 'sql');
    await on(primary, `psql -v ON_ERROR_STOP=1 <<'END'\n${logins}\nEND`);
    expect(await on(primary, block('Encrypt the connections', 'pg_stat_ssl'))).toBe('TLSv1.3\n');
    await expect(
      on(primary, `psql '${url('service').replace('verify-full', 'disable')}' -c 'SELECT 1'`),
    ).rejects.toThrow(/no encryption/);

    await on(primary, `cd ${tls}\n${block('PgBouncer', 'ALTER ROLE')}`);
    const direct = {
      DATABASE_URL: url('service'),
      SIGNER_DATABASE_URL: url('signer'),
      MIGRATION_DATABASE_URL: url('owner'),
    };
    await words(direct, 'db', 'migrate');
    pooler = await startPooler();
    const settings = await serviceSettings({
      database: {
        ...direct,
        DATABASE_URL: url('service', poolerPort),
        SIGNER_DATABASE_URL: url('signer', poolerPort),
      },
      env: { DATABASE_POOLER: 'transaction', DATABASE_LISTEN_URL: url('service'), RECONCILE_EVERY: '2s' },
    });
    service = await startServiceProcess(settings, { roles: ['api', 'worker', 'chain', 'signer'] });
    const made = await makePayingOrganization(service);
    ({ org, account } = made);
    policy = made.policies.auto;
    await pay();

    // A standby that every commit waits for, and which takes over.
    await on(primary, block('A standby', 'CREATE ROLE standby'));
    await on(standby, block('A standby', 'pg_basebackup'));
    const [reload = '', shown = ''] = block('A standby', 'FIRST 1').split('\n');
    await on(primary, reload);
    // A walsender follows the new setting with its next answer.
    await until(
      'the standby is synchronous',
      async () => (await on(primary, shown)) === 'db_2|streaming|sync\n',
    );
    await pay();
    await on(primary, block('Fail over', 'pg_ctl stop'));
    await on(standby, block('Fail over', 'pg_promote'));
    lead(standby);
    await until(
      'the service has found the new primary',
      async () => (await service.unavailableParts()).length === 0,
    );
    await pay();
    await expectNothingLacks();

    // Backups of the new primary, and a restore of one to an earlier moment.
    await on(standby, block('Back it up', 'archive_mode'));
    lead(standby);
    await on(standby, block('Back it up', 'pg_verifybackup'));
    await until(
      'the service has found the primary again',
      async () => (await service.unavailableParts()).length === 0,
    );
    await pay();
    const moment = (await on(standby, `psql -Atc 'SELECT clock_timestamp()'`)).trim();
    await pay();
    await on(standby, `psql -c 'SELECT pg_switch_wal()'`);
    await until(
      'its log is archived',
      async () =>
        (await on(standby, `psql -Atc 'SELECT last_archived_time > $$${moment}$$ FROM pg_stat_archiver'`)) ===
        't\n',
    );
    execFileSync('bash', ['-euo', 'pipefail', '-c', here(block('Back it up', 'KEYSTORE_FILE'))], {
      env: { PATH: process.env.PATH, KEYSTORE_FILE: service.config.keystore.file },
    });
    await service.stop();
    const day = (await on(standby, 'date -u +%F')).trim();
    await on(
      standby,
      block('Restore it', 'recovery.signal')
        .replace('2026-11-26 08:15:00+00', moment)
        .replaceAll('2026-11-26', day),
    );
    lead(standby);
    // The database of that moment has the lease of the signer that ran then, until it ends.
    const { stdout } = await until('the command is not kept out any more', async () => {
      const done = await command(service.env, 'signer', 'reconcile-restore', '--write', '--json');
      if (done.status === 0) return done;
      expect(done.stderr).toMatch(/holds the lease of the signer in the database/);
      return undefined;
    });
    expect(JSON.parse(stdout)).toMatchObject({ authorizations: [expect.any(String)], written: true });
    await service.start();
    await expectNothingLacks();
    await pay();
    await expectPaidOnce();

    // A password, and a certificate. PgBouncer keeps connections that it has; for new ones it needs the new verifier.
    await on(standby, block('Change passwords and certificates', 'ALTER ROLE'));
    await on(standby, `cd ${tls}\n${block('PgBouncer', 'ALTER ROLE').split('\n').at(-1)}`);
    await on(standby, block('Change passwords and certificates', 'pg_reload_conf'));
    await pay();

    // An authority: both are trusted, then the new one has issued, then it alone is trusted.
    const rotate = block('Change passwords and certificates', 'ca-both.pem');
    await on(standby, `cd ${tls}\ncp ca.pem ca-1.pem\n${rotate}\ncp ca-both.pem ca.pem`);
    await restarted();
    const issue = block('Encrypt the connections', 'req -x509')
      .slice(block('Encrypt the connections', 'req -x509').indexOf('for host'))
      .replace('-CA ca.pem -CAkey ca.key', '-CA ca-2.pem -CAkey ca-2.key');
    await on(standby, `cd ${tls}\n${issue}\ncp localhost.pem server.pem && cp localhost.key server.key`);
    await on(standby, block('Change passwords and certificates', 'pg_reload_conf'));
    await restarted();
    await pay();
    await on(standby, `cd ${tls}\ncp ca-2.pem ca.pem`);
    await restarted();
    await pay();
    await expect(
      on(standby, `psql '${url('service')}' -c 'SELECT 1'`.replace('ca.pem', 'ca-1.pem')),
    ).rejects.toThrow(/certificate verify failed/);
    await words(service.env, 'audit', 'verify');
    await expectPaidOnce();
  },
  LIMIT_MS,
);
