import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { startTemporal } from '../../tools/dev/temporalServer';
import { propose } from '../support/api';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import { connectTo, serviceSettings } from '../support/service';
import { freePorts, sharedStack, startOwnTemporal, temporaryDir } from '../support/stack';
import { startTemporalFront } from '../support/temporalFront';
import { until } from '../support/until';

// The SDK gives up polling after a minute of answers that it takes for final.
const LIMIT_MS = 400_000;
/** How soon a process ends whose worker has failed: 5 s, and what it stops. */
const ENDED_WITHIN_MS = 30_000;
const ROLES = ['api', 'worker', 'chain', 'signer'] as const;

const pathOf = ({ config }: ServiceProcess, path: string) => `http://127.0.0.1:${config.ops.port}${path}`;

/** What the ops port says until the process has ended, and how it has. */
async function observeEnd(service: ServiceProcess) {
  let isGone = false;
  const died = service.died().then(() => {
    isGone = true;
  });
  const health: { status: number; reason?: string }[] = [];
  let idleAt: number | undefined;
  while (!isGone && health.length < 4_000) {
    const answer = await fetch(pathOf(service, '/healthz')).catch(() => undefined);
    if (answer) health.push({ ...((await answer.json()) as object), status: answer.status });
    const metrics = await fetch(pathOf(service, '/metrics'))
      .then((response) => response.text())
      .catch(() => '');
    if (/^orgwallet_worker_running\{.*\} 0$/m.test(metrics)) idleAt ??= Date.now();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await died;
  return {
    health,
    endedAfterMs: Date.now() - (idleAt ?? Number.NaN),
    log: readFileSync(service.logFile, 'utf8'),
  };
}

test(
  'a process whose workers have failed ends with an error, and works when it is started again',
  async () => {
    const namespace = 'workers-failed';
    const databaseFile = join(temporaryDir(), 'state.db');
    const [port = 0] = await freePorts(1);
    const start = (name: string) =>
      startTemporal({
        binary: sharedStack().temporalBinary,
        port,
        namespace: name,
        databaseFile,
        logFile: join(temporaryDir(), 'temporal.log'),
        retentionDays: 1,
      });
    let temporal = await start(namespace);
    const settings = await serviceSettings({
      env: { TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: namespace, RECONCILE_EVERY: '2s' },
    });
    const service = await startServiceProcess(settings, { roles: ROLES });
    const connected = connectTo(service.env);
    try {
      const org = await connected.createOrganization();
      await propose(service.http, org);

      await temporal.part.kill();
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${databaseFile}${suffix}`, { force: true });
      temporal = await start('another');
      await until('statusz says so', async () => (await service.unavailableParts()).includes('temporal'));
      const status = await fetch(pathOf(service, '/statusz')).then((response) => response.text());
      expect(status).toContain(`has no namespace \\"${namespace}\\"`);

      const { health, endedAfterMs, log } = await observeEnd(service);
      expect(endedAfterMs).toBeLessThan(ENDED_WITHIN_MS);
      expect(log).toMatch(/stopping: this process cannot go on/);
      expect(health).toContainEqual(expect.objectContaining({ status: 503, reason: expect.any(String) }));

      const connection = await Connection.connect({ address: temporal.address });
      await connection.workflowService.registerNamespace({
        namespace,
        workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
      });
      await connection.close();
      await service.start();
      await propose(service.http, org);

      await temporal.part.stop();
      const stoppedAt = Date.now();
      await service.stop();
      expect(Date.now() - stoppedAt).toBeLessThan(ENDED_WITHIN_MS);
    } finally {
      await service.kill();
      await connected.stop();
      await temporal.part.stop();
    }
  },
  LIMIT_MS,
);

describe('a process whose credential Temporal refuses', () => {
  let temporal: Awaited<ReturnType<typeof startOwnTemporal>>;
  beforeAll(async () => {
    temporal = await startOwnTemporal();
  });
  afterAll(async () => {
    await temporal?.stop();
  });

  test(
    'ends with an error: an API key that expires',
    async () => {
      const front = await startTemporalFront(temporal.current.address, { key: 'first' });
      const settings = await serviceSettings({ env: front.settings });
      const service = await startServiceProcess(settings, { roles: ROLES });
      try {
        const refusedAt = Date.now();
        front.acceptKey('second');
        const { health, log } = await observeEnd(service);
        expect(Date.now() - refusedAt).toBeLessThan(ENDED_WITHIN_MS);
        const reason = expect.stringContaining('refuses TEMPORAL_API_KEY: Request unauthorized.');
        expect(health).toContainEqual(expect.objectContaining({ status: 503, reason }));
        expect(log).toContain('refuses TEMPORAL_API_KEY');
      } finally {
        await service.kill();
        await front.close();
      }
    },
    LIMIT_MS,
  );

  test(
    'ends with an error: a certificate that expires',
    async () => {
      const expiry = new Date(Math.ceil(Date.now() / 1_000 + 60) * 1_000);
      const front = await startTemporalFront(temporal.current.address, { expiry });
      const settings = await serviceSettings({ env: front.settings });
      const service = await startServiceProcess(settings, { roles: ROLES });
      try {
        await until('it has expired', async () => Date.now() > expiry.getTime() + 1_000, 90_000);
        front.disconnect();
        const { health, log } = await observeEnd(service);
        expect(Date.now() - expiry.getTime()).toBeLessThan(ENDED_WITHIN_MS);
        const reason = expect.stringContaining(
          `(${settings.TEMPORAL_TLS_CERT_FILE}) expired at ${expiry.toISOString()}`,
        );
        expect(health).toContainEqual(expect.objectContaining({ status: 503, reason }));
        expect(log).toContain('expired at');
      } finally {
        await service.kill();
        await front.close();
      }
    },
    LIMIT_MS,
  );
});
