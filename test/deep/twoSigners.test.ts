import { copyFileSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { command, json } from '../cli/command';
import type { Shown } from '../support/api';
import { makePayingOrganization } from '../support/payingOrganization';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import { serviceSettings } from '../support/service';
import {
  giveKeystore,
  SignedPayments,
  type SignerHost,
  type StartedSigner,
  signerHost,
  signerReady,
  startSigner,
  stopSigners,
} from '../support/signerHosts';

const LIMIT_MS = 400_000;

let service: ServiceProcess;
let organizationId: string;
let payments: SignedPayments;
let first: SignerHost;
let second: SignerHost;
let pausedSigner: StartedSigner;

beforeAll(async () => {
  const settings = await serviceSettings({ env: { RECONCILE_EVERY: '2s' } });
  first = await signerHost('first', settings);
  second = await signerHost('second', settings);
  for (const host of [first, second]) giveKeystore(host, settings);
  pausedSigner = startSigner(first);
  await signerReady(first, pausedSigner);
  service = await startServiceProcess(settings, { roles: ['api', 'worker', 'chain'] });
  const paying = await makePayingOrganization(service);
  organizationId = paying.org.id;
  payments = new SignedPayments(service, paying);
}, LIMIT_MS);
afterAll(async () => {
  await stopSigners();
  await service?.stop();
});

test(
  'of two signers with a copied keystore and journal one signs, and the other takes over when that one is gone',
  async () => {
    await payments.pay(first);
    // A copy that is behind is refused at once.
    copyFileSync(first.journal, second.journal);
    await payments.pay(first);
    const refused = startSigner(second);
    expect(await refused.exited).toMatchObject({ code: 1 });
    await refused.says(new RegExp(`it is a copy or a backup .*on ${hostname()}, since .*, until `));

    // One that is as new waits for the lease; the first is paused, and the other takes over.
    copyFileSync(first.journal, second.journal);
    const other = startSigner(second);
    await other.says(new RegExp(`waiting for the journal: process ${pausedSigner.pid} on ${hostname()}`));
    process.kill(pausedSigner.pid, 'SIGSTOP');
    await signerReady(second, other);
    await payments.pay(second);
    const lines = readFileSync(first.journal, 'utf8');
    process.kill(pausedSigner.pid, 'SIGCONT');
    expect(await pausedSigner.exited).toMatchObject({ code: 1 });
    expect(readFileSync(pausedSigner.logFile, 'utf8')).toMatch(`process ${other.pid} on ${hostname()}`);
    expect(readFileSync(first.journal, 'utf8')).toBe(lines);
    await payments.pay(second);

    // The doctor of each host says whether its journal is the one.
    const doctor = async ({ env }: SignerHost) => {
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
    const again = startSigner(first);
    await again.says(/waiting for the journal: process/);
    await signerReady(first, again);
    expect(Date.now() - begin).toBeLessThan(60_000);
    await payments.pay(first);
    await payments.expectPaidOnce();
    const proof = join(first.folder, 'proof.jsonl');
    expect(
      (await command(first.env, 'audit', 'export', '--org', organizationId, '--out', proof)).status,
    ).toBe(0);
    expect((await command(first.env, 'audit', 'prove', proof)).status).toBe(0);
    expect(await json(first.env, 'audit', 'verify')).toMatchObject([{ ok: true }]);
  },
  LIMIT_MS,
);
