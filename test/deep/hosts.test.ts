import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config';
import { projectRoot } from '../../src/projectRoot';
import { lastLogLines, type Part } from '../../tools/dev/parts';
import { installPackages } from '../support/debianPackages';
import { HttpClient } from '../support/http';
import { blocksOf } from '../support/markdown';
import { payOnce } from '../support/payingOrganization';
import { freePorts, sharedStack, startOwnPostgres, type TestDatabase, temporaryDir } from '../support/stack';
import { UnitHost } from '../support/unitHost';
import { until } from '../support/until';

const LIMIT_MS = 600_000;
const PAGE = readFileSync(join(projectRoot(), 'docs', 'hosts.md'), 'utf8');

const block = blocksOf(PAGE);

let postgres: Awaited<ReturnType<typeof startOwnPostgres>>;
let database: TestDatabase;
let ports: readonly number[];
let signerHost: UnitHost;
let serviceHost: UnitHost;
const parts: Part[] = [];

/** A command of the page with the addresses of this machine, whose ports are in use. */
function here(commands: string): string {
  const [signerOps, apiOps, workerOps, https, http] = ports;
  const isSigner = commands.includes('signer.env');
  return commands
    .replaceAll(/^postgres:.*$/gm, (url) => {
      const { url: owner, serviceUrl, signerUrl } = database;
      return url.includes('_owner') ? owner : url.includes('_signer') ? signerUrl : serviceUrl;
    })
    .replaceAll(
      'TEMPORAL_ADDRESS=temporal.example:7233',
      `TEMPORAL_ADDRESS=${sharedStack().temporalAddress}\nTEMPORAL_TASK_QUEUE=hosts-${signerOps}`,
    )
    .replaceAll('OPS_PORT=9091', `OPS_PORT=${workerOps}`)
    .replaceAll(
      'OPS_PORT=9090',
      `OPS_PORT=${isSigner ? signerOps : apiOps}\nHTTPS_PORT=${https}\nHTTP_PORT=${http}`,
    );
}

/** Runs commands of the page on a host. What systemd would start, this starts as its unit says. */
async function on(host: UnitHost, commands: string): Promise<string> {
  const lines = here(commands).split('\n');
  const isStart = (line: string) => line.startsWith('systemctl start ');
  const define = block('On both hosts', 'runuser');
  const { status, stdout, stderr } = await host.run(
    [define, ...lines.filter((line) => !isStart(line))].join('\n'),
  );
  if (status !== 0) throw new Error(`${commands}\n${stdout}${stderr}`);
  for (const unit of lines.filter(isStart).flatMap((line) => line.split(' ').slice(2))) {
    parts.push(host.start(unit));
  }
  return `${stdout}${stderr}`;
}

async function ready(opsPort: number | undefined): Promise<void> {
  await until(
    `the process at ${opsPort} is ready`,
    async () => {
      const ended = parts.find((part) => !part.isRunning());
      if (ended) throw new Error(lastLogLines(ended.logFile));
      return (await fetch(`http://127.0.0.1:${opsPort}/readyz`)).ok;
    },
    120_000,
  );
}

beforeAll(async () => {
  if (process.getuid?.() !== 0) throw new Error('this test needs root: each role runs as its own user');
  if (!existsSync('/usr/bin/systemd-analyze') || !existsSync('/usr/bin/python3')) {
    installPackages('systemd', 'python3', 'libseccomp2', 'openssl');
  }
  // By TCP: /tmp of a process, where the shared one has its socket, is its own.
  postgres = await startOwnPostgres();
  ({ database } = postgres);
  ports = await freePorts(5);
  const dir = temporaryDir();
  [signerHost, serviceHost] = ['signer', 'service'].map((name) => {
    mkdirSync(join(dir, name));
    return new UnitHost(join(dir, name));
  }) as [UnitHost, UnitHost];
  const { networksFile, tlsDir } = sharedStack();
  for (const { here: folder } of [signerHost, serviceHost]) {
    writeFileSync(join(folder, 'networks.json'), readFileSync(networksFile));
  }
  writeFileSync(join(serviceHost.here, 'tls.crt'), readFileSync(join(tlsDir, 'cert.pem')));
  writeFileSync(join(serviceHost.here, 'tls.key'), readFileSync(join(tlsDir, 'key.pem')));
}, LIMIT_MS);
afterAll(async () => {
  for (const part of parts.toReversed()) await part.stop();
  await postgres?.stop();
});

test(
  'the commands of the page lead from two empty hosts to a payment, each role with its own user and no more rights',
  async () => {
    for (const host of [signerHost, serviceHost]) {
      const said = await on(host, block('On both hosts', 'verify'));
      expect(said).toContain('Creating user');
      // Of systemd's own units it may say something, where they are not installed whole.
      expect(said.split('\n').filter((line) => /orgwallet[\w-]*\.(service|conf)/.test(line))).toEqual([]);
    }
    await on(serviceHost, block('The service', 'api.env'));
    expect(await on(serviceHost, block('The service', 'db migrate'))).toContain(
      'this is an installation of production',
    );
    await on(signerHost, block('The signer', 'signer.env'));
    const [signerOps, apiOps, workerOps, httpsPort = 0] = ports;
    await ready(signerOps);
    expect(await on(signerHost, block('The signer', 'backup'))).toContain(
      '/var/lib/orgwallet-signer/backups/',
    );
    await on(serviceHost, block('The first payment', 'systemctl'));
    await ready(workerOps);
    await ready(apiOps);
    for (const [host, unit] of [
      [signerHost, 'orgwallet-signer'],
      [serviceHost, 'orgwallet-worker'],
    ] as const) {
      expect(existsSync(host.fileOf('/etc/systemd/system/multi-user.target.wants'))).toBe(true);
      expect((await host.run(`systemctl is-enabled ${unit}`)).stdout).toBe('enabled\n');
    }

    // A payment, with the keystore that the signer has made.
    const keystore = signerHost.fileOf('/var/lib/orgwallet-signer/keystore.json');
    const env = {
      MIGRATION_DATABASE_URL: database.url,
      KEYSTORE_PASSPHRASE: readFileSync(signerHost.fileOf('/etc/orgwallet/passphrase'), 'utf8').trim(),
    };
    const config = loadConfig({ NETWORKS_FILE: sharedStack().networksFile, KEYSTORE_FILE: keystore });
    const http = new HttpClient(httpsPort, readFileSync(join(serviceHost.here, 'tls.crt'), 'utf8'));
    await payOnce({ env, config, http });
    http.close();

    expect(await on(signerHost, block('The first payment', 'as signer'))).toMatch(/ok +journal/);
    expect(await on(serviceHost, block('The first payment', 'as worker'))).toMatch(/ok +workflows/);
  },
  LIMIT_MS,
);

test('each process has the user of its role, no rights, and filters of system calls', async () => {
  for (const part of parts) {
    const status = readFileSync(`/proc/${part.pid}/status`, 'utf8');
    expect(status).toMatch(/^Uid:\t(?!0\t)(\d+)\t\1\t\1\t\1$/m);
    expect(status).toMatch(/^Cap(Prm|Eff|Bnd):\t0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    expect(status).toMatch(/^Seccomp:\t2$/m);
  }
  const users = parts.map(
    ({ pid }) => /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1],
  );
  expect(new Set(users.slice(1)).size).toBe(2);
});

it.each([
  ['signer', 'orgwallet-api', '/etc/orgwallet/passphrase'],
  ['signer', 'orgwallet-worker', '/etc/orgwallet/database-url'],
  ['signer', 'orgwallet-api', '/var/lib/orgwallet-signer/keystore.json'],
  ['service', 'orgwallet-worker', '/etc/orgwallet/tls.key'],
  ['service', 'orgwallet-api', '/etc/orgwallet/migration-database-url'],
  ['service', 'orgwallet-signer', '/etc/orgwallet/database-url'],
])('on the host of the %s, %s cannot read %s', async (name, user, file) => {
  const host = name === 'signer' ? signerHost : serviceHost;
  expect((await host.run(`test -s ${file}`)).status).toBe(0);
  const { status, stderr } = await host.run(`runuser -u ${user} -- cat ${file}`);
  expect({ status, stderr }).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('Permission denied'),
  });
});

it.each(['signer', 'api', 'worker'])('systemd rates the exposure of %s as low', async (role) => {
  const unit = `/etc/systemd/system/orgwallet-${role}.service`;
  const { stdout } = await signerHost.run(`systemd-analyze security --no-pager --offline=true ${unit}`);
  const [, exposure] = /Overall exposure level .*: (\d+\.\d)/.exec(stdout) ?? [];
  expect(Number(exposure)).toBeLessThanOrEqual(1.5);
});

it('a unit with a setting that systemd does not know is refused by the command that checks them', async () => {
  const { stderr } = await signerHost.run(
    'printf "[Service]\\nProtectEverything=yes\\n" > /etc/systemd/system/orgwallet-.service.d/wrong.conf; systemd-analyze verify /etc/systemd/system/orgwallet-api.service; rm /etc/systemd/system/orgwallet-.service.d/wrong.conf',
  );
  expect(stderr).toMatch(/wrong\.conf:2: Unknown key.*ProtectEverything/);
});
