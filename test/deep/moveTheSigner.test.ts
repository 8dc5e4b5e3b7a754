import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../src/projectRoot';
import { type Outcome, spawned, words } from '../cli/command';
import { installPackages } from '../support/debianPackages';
import { blocksOf, codeBlocks } from '../support/markdown';
import { makePayingOrganization } from '../support/payingOrganization';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import { databaseSettings, serviceSettings } from '../support/service';
import {
  giveKeystore,
  SignedPayments,
  type SignerHost,
  signerHost,
  signerReady,
  startSigner,
  stopSigners,
} from '../support/signerHosts';
import { startOwnPostgres, temporaryDir } from '../support/stack';
import { until } from '../support/until';

const LIMIT_MS = 600_000;
const NEW_PASSWORD = 'of-the-new-host';
const PAGE = readFileSync(join(projectRoot(), 'docs', 'move-the-signer.md'), 'utf8');

const block = blocksOf(PAGE);

let postgres: Awaited<ReturnType<typeof startOwnPostgres>>;
let settings: NodeJS.ProcessEnv;
let safe: string;
let backups: string;
let service: ServiceProcess;
let payments: SignedPayments;

/** Runs commands of the page on a host; `signer-2.example` is `target`. */
function tried(host: SignerHost, commands: string, target = host): Promise<Outcome> {
  const { username, password, hostname: PGHOST, port } = new URL(postgres.current.adminUrl);
  const here = commands
    .replaceAll('signer-2.example:/var/lib/orgwallet-signer', target.folder)
    .replaceAll('/var/lib/orgwallet-signer', host.folder)
    .replaceAll('/mnt/safe', safe)
    .replaceAll('/mnt/backups', backups)
    .replaceAll('…', NEW_PASSWORD);
  // The login of the service is not on a host of the signer.
  const { DATABASE_URL: _, MIGRATION_DATABASE_URL: __, ...own } = host.env;
  const admin = { PGHOST, PGPORT: port, PGUSER: username, PGPASSWORD: password, PGDATABASE: 'postgres' };
  const [first = ''] = codeBlocks(PAGE);
  const shell = [
    '--norc',
    '-euo',
    'pipefail',
    '-c',
    `${first.replaceAll('/var/lib/orgwallet-signer', host.folder)}\n${here}`,
  ];
  return spawned({ ...own, ...admin }, 'bash', ...shell);
}

/** The same, which must succeed. Returns what they print. */
async function on(host: SignerHost, commands: string, target = host): Promise<string> {
  const { status, stdout, stderr } = await tried(host, commands, target);
  if (status !== 0) throw new Error(`${commands}\n${stdout}${stderr}`);
  return stdout;
}

beforeAll(async () => {
  if (!['/usr/bin/psql', '/usr/bin/scp'].every((file) => existsSync(file))) {
    installPackages('postgresql-client', 'openssh-client');
  }
  postgres = await startOwnPostgres();
  settings = await serviceSettings({
    database: databaseSettings(postgres.database),
    env: { RECONCILE_EVERY: '2s' },
  });
  [safe = '', backups = ''] = ['safe', 'backups'].map((name) => join(temporaryDir(), name));
  for (const folder of [safe, backups]) mkdirSync(folder);
}, LIMIT_MS);
afterAll(async () => {
  await stopSigners();
  await service?.stop();
  await postgres?.stop();
});

test(
  'the commands of the page take the signer to a new host, and from one that is lost; one signs, and pays once',
  async () => {
    const old = await signerHost('signer-1', settings);
    giveKeystore(old, settings);
    const oldSigner = startSigner(old);
    await signerReady(old, oldSigner);
    service = await startServiceProcess(settings, { roles: ['api', 'worker', 'chain'] });
    payments = new SignedPayments(service, await makePayingOrganization(service));
    await payments.pay(old);

    // The new host says what it lacks, and who has it.
    const target = await signerHost('signer-2', settings);
    const empty = await tried(target, block('Prepare the new host', 'doctor'));
    expect(empty.status).toBe(1);
    expect(empty.stdout).toMatch(/ok +login/);
    expect(empty.stdout).toMatch(
      new RegExp(`fail +journal .*not found here: the signer was process ${oldSigner.pid} on ${hostname()}`),
    );

    // Copied while the old one signs: it waits for the lease, and its copy is behind after the next payment.
    await on(old, block('Move it', 'scp'), target);
    const early = startSigner(target);
    await early.says(new RegExp(`waiting for the journal: process ${oldSigner.pid} on ${hostname()}`));
    expect(
      (await fetch(`http://127.0.0.1:${target.env.OPS_PORT}/readyz`).catch(() => undefined))?.ok,
    ).not.toBe(true);
    await early.stop();
    await payments.pay(old);
    expect((await tried(target, block('Move it', 'doctor'))).stdout).toMatch(
      /fail +journal .*it is a copy or a backup/,
    );
    const behind = startSigner(target);
    expect(await behind.exited).toMatchObject({ code: 1 });
    await behind.says(/it is a copy or a backup/);

    // The move.
    await oldSigner.stop();
    const waiting = await payments.ask();
    await on(old, block('Move it', 'scp'), target);
    expect(statSync(target.keystore).mode & 0o777).toBe(0o600);
    const { stdout: arrived } = await tried(target, block('Move it', 'doctor'));
    expect(arrived).toMatch(/ok +keystore/);
    expect(arrived).toMatch(/ok +journal .*the database has all of it/);
    const newSigner = startSigner(target);
    await signerReady(target, newSigner);
    await payments.completed(waiting, target);
    await on(target, block('Move it', 'keystore backup'));
    expect((await tried(target, block('Move it', 'doctor'))).stdout).toMatch(/ok +backup/);
    await on(old, block('Move it', 'shred'));
    expect([old.keystore, old.journal, old.env.KEYSTORE_PASSPHRASE_FILE ?? ''].filter(existsSync)).toEqual(
      [],
    );

    // This host is lost, and its signer runs on. The backup of its journal is older.
    await on(target, `cp "$KEYSTORE_FILE.journal" /mnt/backups/journal`);
    await payments.pay(target);
    await on(target, block('The old host is lost', 'ALTER ROLE'));
    const lines = readFileSync(target.journal, 'utf8');
    const unsigned = await payments.ask();
    const url = new URL(settings.SIGNER_DATABASE_URL ?? '');
    url.password = NEW_PASSWORD;
    const next = await signerHost('signer-3', { ...settings, SIGNER_DATABASE_URL: url.href });
    await on(next, block('The old host is lost', 'install'));
    const older = startSigner(next);
    expect(await older.exited).toMatchObject({ code: 1 });
    await older.says(/it is a copy or a backup/);
    const complete = block('The old host is lost', 'reconcile-restore');
    const completed = await until('the lease of the lost host has ended', async () => {
      const done = await tried(next, complete);
      if (done.status === 0) return done;
      expect(done.stderr).toMatch(/holds the lease of the signer in the database/);
      return undefined;
    });
    expect(completed.stdout).toMatch(/completed with \d+ lines? from database and chains/);
    expect(newSigner.isRunning()).toBe(true);
    const nextSigner = startSigner(next);
    await signerReady(next, nextSigner);
    // It was requested before the journal was completed, and is requested again.
    await payments.cutOff(unsigned);
    await payments.pay(next);
    expect(readFileSync(target.journal, 'utf8')).toBe(lines);
    await newSigner.stop();
    const returned = startSigner(target);
    await returned.says(/password authentication failed/);
    await returned.stop();
    await payments.pay(next);
    await payments.expectPaidOnce();
    expect((await tried(next, block('Move it', 'doctor'))).stdout).toMatch(
      /ok +journal .*the database has all of it/,
    );
    await words(service.env, 'audit', 'verify');
  },
  LIMIT_MS,
);
