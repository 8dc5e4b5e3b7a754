import { copyFileSync, cpSync, mkdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Hex } from 'viem';
import type { Db } from '../../src/db/database';
import { requireRow } from '../../src/db/rows';
import { projectRoot } from '../../src/projectRoot';
import { lastLogLines, startPart } from '../../tools/dev/parts';
import { command, json } from '../cli/command';
import type { Shown } from '../support/api';
import { anAddress } from '../support/builders';
import { makePayingOrganization, paymentChain } from '../support/payingOrganization';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import type { TestOrganization } from '../support/service';
import { connectAsOwner, serviceSettings } from '../support/service';
import { freePorts } from '../support/stack';
import {
  aTransactionBody,
  executeTransaction,
  initiate,
  settledTransaction,
} from '../support/transactionApi';
import { until } from '../support/until';

const LIMIT_MS = 400_000;

/** One host of the signer: its folder has keystore and journal. */
interface Host {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly journal: string;
}

let service: ServiceProcess;
let db: Db;
let org: TestOrganization;
let account: Shown;
let policies: { auto: Shown; approved: Shown };
let first: Host;
let second: Host;
const paid: Hex[] = [];
const running = new Set<{ stop(): Promise<void> }>();

async function aHost(name: string, settings: NodeJS.ProcessEnv): Promise<Host> {
  const { ORGWALLET_DATA_DIR: dir = '', ...more } = settings;
  const folder = join(dir, name);
  mkdirSync(folder);
  copyFileSync(join(dir, 'keystore.json'), join(folder, 'keystore.json'));
  cpSync(join(dir, 'tls'), join(folder, 'tls'), { recursive: true });
  const [opsPort] = await freePorts(1);
  const env = { ...more, ORGWALLET_DATA_DIR: folder, ORGWALLET_ROLES: 'signer', OPS_PORT: String(opsPort) };
  return { folder, env, journal: join(folder, 'keystore.json.journal') };
}

/** A signer as an operator starts it, whether or not it comes up. */
function started({ folder, env }: Host) {
  const logFile = join(folder, `signer-${paid.length}-${running.size}.log`);
  const part = startPart({
    name: 'signer',
    command: process.execPath,
    args: [join(projectRoot(), 'dist', 'src', 'main.js')],
    env: { PATH: process.env.PATH, NODE_ENV: 'test', ...env, LOG_LEVEL: 'warn' },
    logFile,
    stopSignal: 'SIGTERM',
    stopLimitMs: 20_000,
  });
  running.add(part);
  const says = (words: RegExp) =>
    until(`a signer says ${words}`, async () => readFileSync(logFile, 'utf8').match(words)?.[0], 90_000);
  return Object.assign(part, { says });
}

const isReady = ({ env }: Host, part: ReturnType<typeof started>) =>
  until(
    'the signer is ready',
    async () => {
      if (!part.isRunning()) throw new Error(lastLogLines(part.logFile));
      return (await fetch(`http://127.0.0.1:${env.OPS_PORT}/readyz`)).ok;
    },
    120_000,
  );

/** Pays, and waits until the journal of the host that signs has the outcome, so that it is not written any more. */
async function pay({ journal }: Host): Promise<void> {
  const to = anAddress() as Hex;
  const body = aTransactionBody(org, { account, policy: policies.auto, to });
  const transaction = await initiate(service.http, org, body);
  await executeTransaction(service.http, org, transaction);
  await until(
    `${transaction.id} is completed`,
    async () => {
      const { executionStatus } = await settledTransaction(service.http, org, transaction);
      return executionStatus === 'completed';
    },
    120_000,
  );
  await until(
    'its outcome is in the journal',
    async () =>
      readFileSync(journal, 'utf8').includes(
        `"type":"outcome","organizationId":"${org.id}","transactionId":"${transaction.id}"`,
      ),
    60_000,
  );
  paid.push(to);
}

async function expectPaidOnce(): Promise<void> {
  const { client } = paymentChain(service);
  for (const address of paid) expect(await client.getBalance({ address })).toBe(1n);
}

beforeAll(async () => {
  const settings = await serviceSettings({ env: { RECONCILE_EVERY: '2s' } });
  first = await aHost('first', settings);
  second = await aHost('second', settings);
  const signer = started(first);
  await isReady(first, signer);
  service = await startServiceProcess(settings, { roles: ['api', 'worker', 'chain'] });
  db = connectAsOwner(service.env, 4);
  ({ org, account, policies } = await makePayingOrganization(service));
}, LIMIT_MS);
afterAll(async () => {
  for (const part of running) await part.stop();
  await service?.stop();
  await db?.destroy();
});

test(
  'of two signers with a copied keystore and journal one signs, and the other takes over when that one is gone',
  async () => {
    await pay(first);
    // A copy that is behind is refused at once.
    copyFileSync(first.journal, second.journal);
    await pay(first);
    const refused = started(second);
    expect(await refused.exited).toMatchObject({ code: 1 });
    await refused.says(new RegExp(`it is a copy or a backup .*on ${hostname()}, since .*, until `));

    // One that is as new waits for the lease; the first is paused, and the other takes over.
    copyFileSync(first.journal, second.journal);
    const [firstSigner] = running as unknown as Iterable<ReturnType<typeof started>>;
    const pausedSigner = requireRow(firstSigner);
    const other = started(second);
    await other.says(new RegExp(`waiting for the journal: process ${pausedSigner.pid} on ${hostname()}`));
    process.kill(pausedSigner.pid, 'SIGSTOP');
    await isReady(second, other);
    await pay(second);
    const lines = readFileSync(first.journal, 'utf8');
    process.kill(pausedSigner.pid, 'SIGCONT');
    expect(await pausedSigner.exited).toMatchObject({ code: 1 });
    expect(readFileSync(join(first.folder, 'signer-0-0.log'), 'utf8')).toMatch(
      `process ${other.pid} on ${hostname()}`,
    );
    expect(readFileSync(first.journal, 'utf8')).toBe(lines);
    await pay(second);

    // The doctor of each host says whether its journal is the one.
    const doctor = async ({ env }: Host) => {
      const { DATABASE_URL: _, ...own } = env;
      const { stdout } = await command(own, 'doctor', '--json');
      return JSON.parse(stdout).find(({ part }: Shown) => part === 'journal');
    };
    expect(await doctor(second)).toMatchObject({ status: 'ok' });
    expect(await doctor(first)).toMatchObject({
      status: 'fail',
      found: expect.stringContaining('it is a copy or a backup'),
    });

    // After a crash its lease ends by itself.
    await other.kill();
    copyFileSync(second.journal, first.journal);
    const begin = Date.now();
    const again = started(first);
    await again.says(/waiting for the journal: process/);
    await isReady(first, again);
    expect(Date.now() - begin).toBeLessThan(60_000);
    await pay(first);
    await expectPaidOnce();
    const proof = join(first.folder, 'proof.jsonl');
    expect((await command(first.env, 'audit', 'export', '--org', org.id, '--out', proof)).status).toBe(0);
    expect((await command(first.env, 'audit', 'prove', proof)).status).toBe(0);
    expect(await json(first.env, 'audit', 'verify')).toMatchObject([{ ok: true }]);
  },
  LIMIT_MS,
);
