import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { parse } from 'yaml';
import { projectRoot } from '../../src/projectRoot';
import { type Part, startPart } from '../../tools/dev/parts';
import { COMPILED, spawned } from '../cli/command';
import { goProgram } from '../support/goProgram';
import { configurePooler, type Pooler, setForPooler } from '../support/pgbouncer';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import { connectAsOwner, databaseSettings, fundRelayers, serviceSettings } from '../support/service';
import {
  freePorts,
  networksFile,
  rpc,
  startOwnChain,
  startOwnPostgres,
  startOwnTemporal,
  temporaryDir,
} from '../support/stack';
import { until } from '../support/until';

const PROMETHEUS = {
  path: 'github.com/prometheus/prometheus/cmd/prometheus',
  version: 'v0.316.0',
  // Without the packages that find targets in clouds.
  tags: 'remove_all_sd',
};
const NODE_EXPORTER = { path: 'github.com/prometheus/node_exporter', version: 'v1.12.1' };

/** A minute of the rules is three seconds here. Seconds that an expression compares with stay as they are. */
const FASTER = 20;
/** A rate needs what happens in between: an endpoint that fails is asked seldom. */
const SHORTEST_WINDOW_MS = 45_000;
const CHAIN_ID = 41_732;
const DAY_MS = 86_400_000;
const FIRES_MS = 300_000;

const inSeconds = { s: 1, m: 60, h: 3_600 } as const;

/** The rules of ops/alerts.yml in which every duration is shorter. */
function fasterRules(): string {
  const rules = readFileSync(join(projectRoot(), 'ops', 'alerts.yml'), 'utf8');
  const shorter = (amount: string, unit: string, least = 0) =>
    `${Math.max(least, (Number(amount) * inSeconds[unit as keyof typeof inSeconds] * 1_000) / FASTER)}ms`;
  return rules
    .replace(/\bfor: (\d+)([smh])$/gm, (_, amount, unit) => `for: ${shorter(amount, unit)}`)
    .replace(/\[(\d+)([smh])\]/g, (_, amount, unit) => `[${shorter(amount, unit, SHORTEST_WINDOW_MS)}]`)
    .replace(/\boffset (\d+)([smh])\b/g, (_, amount, unit) => `offset ${shorter(amount, unit)}`);
}

let prometheus: string;
let backups: string;
let tls: string;
let disk: string;
let env: NodeJS.ProcessEnv;
let postgres: Awaited<ReturnType<typeof startOwnPostgres>>;
let temporal: Awaited<ReturnType<typeof startOwnTemporal>>;
let chain: Awaited<ReturnType<typeof startOwnChain>>;
let configured: Pooler;
let pooler: Part;
let api: ServiceProcess;
let signer: ServiceProcess;
let workers: ServiceProcess[];
const parts: Part[] = [];

interface Alert {
  readonly state: string;
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
}

/** The alerts that fire now. */
async function firing(): Promise<Alert[]> {
  const answer = await fetch(`${prometheus}/api/v1/alerts`);
  const { data } = (await answer.json()) as { data: { alerts: Alert[] } };
  return data.alerts.filter(({ state }) => state === 'firing');
}

const namesOf = (alerts: readonly Alert[]) => [...new Set(alerts.map(({ labels }) => labels.alertname))];

/** Waits until each of these alerts fires; returns all that do. */
async function untilFiring(...names: readonly string[]): Promise<Alert[]> {
  return until(
    `${names.join(', ')} fire`,
    async () => {
      const alerts = await firing();
      const missing = names.filter((name) => !namesOf(alerts).includes(name));
      if (missing.length > 0)
        throw new Error(`${missing.join(', ')} do not; ${namesOf(alerts).join(', ')} do`);
      return alerts;
    },
    FIRES_MS,
  );
}

/** Waits until nothing fires any more. */
async function untilQuiet(): Promise<void> {
  await until(
    'no alert fires',
    async () => {
      const alerts = await firing();
      if (alerts.length > 0)
        throw new Error(JSON.stringify(alerts.map(({ annotations }) => annotations.summary)));
      return true;
    },
    FIRES_MS,
  );
}

/** Reports a backup as docs/monitoring.md says. */
function reportBackup(of: string, ageHours = 0): void {
  const at = Math.floor(Date.now() / 1_000 - ageHours * 3_600);
  const file = join(backups, `orgwallet-${of}.prom`);
  writeFileSync(`${file}.new`, `orgwallet_backup_timestamp_seconds{of="${of}"} ${at}\n`);
  renameSync(`${file}.new`, file);
}

async function writeCertificate(days: number): Promise<void> {
  const pems = await generate([{ name: 'commonName', value: 'localhost' }], {
    notAfterDate: new Date(Date.now() + days * DAY_MS),
    extensions: [
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  writeFileSync(join(tls, 'key.pem'), pems.private);
  writeFileSync(join(tls, 'cert.pem'), pems.cert);
}

async function setRelayerBalance(wei: bigint): Promise<void> {
  const db = connectAsOwner(env, 1);
  try {
    for (const { address } of await db('relayers')) {
      await rpc(chain.current.rpcUrl, 'anvil_setBalance', [address, `0x${wei.toString(16)}`]);
    }
  } finally {
    await db.destroy();
  }
}

async function startPrometheus(): Promise<void> {
  const dir = temporaryDir();
  const [port = 0, exporterPort = 0] = await freePorts(2);
  backups = join(dir, 'textfile');
  mkdirSync(backups);
  const file = (name: string, text: string) => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  const targets = [api, signer, ...workers].map(({ config }) => `127.0.0.1:${config.ops.port}`);
  const config = file(
    'prometheus.yml',
    JSON.stringify({
      global: { scrape_interval: '2500ms', scrape_timeout: '2500ms', evaluation_interval: '1s' },
      rule_files: [file('alerts.yml', fasterRules())],
      scrape_configs: [
        { job_name: 'orgwallet', static_configs: [{ targets }] },
        { job_name: 'backups', static_configs: [{ targets: [`127.0.0.1:${exporterPort}`] }] },
      ],
    }),
  );
  const start = (name: string, command: string, args: string[]) =>
    parts.push(
      startPart({
        ...{ name, command, args },
        logFile: join(dir, `${name}.log`),
        env: { PATH: process.env.PATH },
        stopSignal: 'SIGTERM',
        stopLimitMs: 10_000,
      }),
    );
  start('node_exporter', await goProgram(NODE_EXPORTER), [
    `--web.listen-address=127.0.0.1:${exporterPort}`,
    '--collector.disable-defaults',
    '--collector.textfile',
    `--collector.textfile.directory=${backups}`,
  ]);
  start('prometheus', await goProgram(PROMETHEUS), [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(dir, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]);
  prometheus = `http://127.0.0.1:${port}`;
}

beforeAll(async () => {
  await goProgram(PROMETHEUS);
  await goProgram(NODE_EXPORTER);
  disk = temporaryDir();
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=512m,mode=0700', 'tmpfs', disk]);
  [postgres, temporal, chain] = await Promise.all([
    startOwnPostgres(),
    startOwnTemporal(),
    startOwnChain(CHAIN_ID),
  ]);
  const { url, serviceUrl, signerUrl } = postgres.database;
  configured = await configurePooler(postgres.database);
  await setForPooler(postgres.current.adminUrl, new URL(url).pathname.slice(1));
  pooler = await configured.start();
  env = await serviceSettings({
    database: databaseSettings({
      url,
      serviceUrl: configured.through(serviceUrl),
      signerUrl: configured.through(signerUrl),
    }),
    env: {
      DATABASE_POOLER: 'transaction',
      TEMPORAL_ADDRESS: temporal.current.address,
      JOURNAL_FILE: join(disk, 'journal'),
      NETWORKS_FILE: networksFile([
        { id: CHAIN_ID, name: 'Own', rpcUrl: chain.current.rpcUrl, confirmations: 1 },
      ]),
    },
  });
  tls = join(env.ORGWALLET_DATA_DIR ?? '', 'tls');
  await writeCertificate(400);
  await spawned(env, process.execPath, COMPILED, 'keystore', 'backup', '--out', join(disk, 'backup.json'));
  signer = await startServiceProcess(env, { roles: ['signer'] });
  api = await startServiceProcess(env, { roles: ['api'] });
  workers = [
    await startServiceProcess(env, { roles: ['worker', 'chain'] }),
    await startServiceProcess(env, { roles: ['worker', 'chain'] }),
  ];
  await startPrometheus();
  reportBackup('postgres');
  reportBackup('journal');
}, 900_000);
afterAll(async () => {
  for (const part of [...parts, pooler]) await part?.stop();
  for (const process of [api, ...(workers ?? []), signer]) await process?.kill();
  await Promise.all([temporal?.stop(), chain?.stop(), postgres?.stop()]);
  spawnSync('umount', [disk]);
});

/** A fault, what it sets off, and how it ends. */
interface Fault {
  readonly name: string;
  readonly alerts: readonly string[];
  /** What must not fire meanwhile. */
  readonly not?: readonly string[];
  begin(): Promise<unknown>;
  end(): Promise<unknown>;
}

const faults: Fault[] = [
  {
    name: 'the API ends',
    alerts: ['OrgwalletApiDown', 'OrgwalletProcessDown'],
    not: ['OrgwalletSignerDown', 'OrgwalletWorkerNotPolling'],
    begin: () => api.kill(),
    end: () => api.start(),
  },
  {
    name: 'the signer ends',
    alerts: ['OrgwalletSignerDown', 'OrgwalletProcessDown', 'OrgwalletWorkerNotPolling'],
    not: ['OrgwalletApiDown'],
    begin: () => signer.kill(),
    end: () => signer.start(),
  },
  {
    name: 'one of two workers ends',
    alerts: ['OrgwalletProcessDown'],
    not: ['OrgwalletApiDown', 'OrgwalletSignerDown', 'OrgwalletWorkerNotPolling'],
    begin: async () => workers[0]?.kill(),
    end: async () => workers[0]?.start(),
  },
  {
    name: 'both workers end',
    alerts: ['OrgwalletWorkerNotPolling'],
    begin: () => Promise.all(workers.map((worker) => worker.kill())),
    end: () => Promise.all(workers.map((worker) => worker.start())),
  },
  {
    name: 'PgBouncer ends',
    alerts: ['OrgwalletDatabaseDown', 'OrgwalletNotReady', 'OrgwalletApiDown'],
    begin: () => pooler.stop(),
    async end() {
      pooler = await configured.start();
    },
  },
  {
    name: 'Temporal ends',
    alerts: ['OrgwalletTemporalDown', 'OrgwalletNotReady'],
    not: ['OrgwalletDatabaseDown'],
    begin: () => temporal.stop(),
    end: () => temporal.start(),
  },
  {
    name: 'no endpoint of a network answers',
    alerts: ['OrgwalletNetworkUnavailable', 'OrgwalletEndpointFails'],
    not: ['OrgwalletNotReady'],
    begin: () => chain.stop(),
    end: () => chain.start(),
  },
  {
    name: 'the relayer has nothing',
    alerts: ['OrgwalletRelayerEmpty', 'OrgwalletRelayerLow'],
    begin: () => setRelayerBalance(0n),
    async end() {
      const db = connectAsOwner(env, 1);
      await fundRelayers(db, api.config).finally(() => db.destroy());
    },
  },
  {
    name: 'a certificate was not renewed for long',
    alerts: ['OrgwalletCertificateOld'],
    not: ['OrgwalletCertificateExpires'],
    begin: () => writeCertificate(20),
    end: () => writeCertificate(400),
  },
  {
    name: 'a certificate is about to expire',
    alerts: ['OrgwalletCertificateExpires'],
    begin: () => writeCertificate(2),
    end: () => writeCertificate(400),
  },
  {
    name: 'the disk of the journal fills',
    alerts: ['OrgwalletJournalDiskFull', 'OrgwalletJournalDiskLow'],
    begin: async () => writeFileSync(join(disk, 'ballast'), Buffer.alloc(480 * 1_024 * 1_024)),
    end: async () => rmSync(join(disk, 'ballast')),
  },
  {
    name: 'backups are too old, and the keystore has none',
    alerts: ['OrgwalletBackupOld', 'OrgwalletKeystoreWithoutBackup'],
    async begin() {
      reportBackup('postgres', 27);
      rmSync(join(backups, 'orgwallet-journal.prom'));
      const marker = `${signer.config.keystore.file}.backup.json`;
      renameSync(marker, `${marker}.aside`);
    },
    async end() {
      reportBackup('postgres');
      reportBackup('journal');
      const marker = `${signer.config.keystore.file}.backup.json`;
      renameSync(`${marker}.aside`, marker);
    },
  },
];

it('nothing fires while everything is well', async () => {
  await untilQuiet();
  const loaded = await (await fetch(`${prometheus}/api/v1/rules`)).json();
  const { rules } = parse(readFileSync(join(projectRoot(), 'ops', 'alerts.yml'), 'utf8')).groups[0];
  expect((loaded as { data: { groups: { rules: object[] }[] } }).data.groups[0]?.rules).toHaveLength(
    rules.length,
  );
}, 300_000);

it.each(faults.map((fault) => [fault.name, fault] as const))(
  'when %s, it fires, and no more afterwards',
  async (_, { alerts, not = [], begin, end }) => {
    await untilQuiet();
    await begin();
    try {
      const fired = await untilFiring(...alerts);
      expect(namesOf(fired).filter((name) => not.includes(name ?? ''))).toEqual([]);
      for (const { annotations } of fired) expect(annotations.runbook_url).toContain('/runbook.md#');
    } finally {
      await end();
    }
    await untilQuiet();
  },
  900_000,
);
