/** @deep */
import { mkdirSync, readFileSync, renameSync, rmdirSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { spawned, words } from '../cli/command';
import { ownSettings, start, untilStarted } from '../support/start';
import { DEEP } from '../support/suite';
import { until } from '../support/until';

/** The supervisor and the parts that the record in the data folder names. */
function recorded(dataDir: string): { name: string; pid: number }[] {
  const record = JSON.parse(readFileSync(join(dataDir, 'supervisor.json'), 'utf8'));
  return [record.supervisor, ...record.parts];
}

const processes = (dataDir: string) => recorded(dataDir).map(({ pid }) => pid);

/** Those of some settings that a part was started with; a system without /proc shows none. */
function settingsOf(dataDir: string, part: string, names: readonly string[]): string[] {
  const pid = recorded(dataDir).find(({ name }) => name === part)?.pid;
  const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  return names.filter((name) => environment.some((line) => line.startsWith(`${name}=`)));
}

const demoOf = (dataDir: string) => JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'));

/** What the service says of itself and of all that it needs. */
async function statusOf({ OPS_PORT }: NodeJS.ProcessEnv): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${OPS_PORT}/statusz`);
  return ((await response.json()) as { status: unknown }).status;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('npm start', () => {
  it('reports a taken port with its setting and process, and leaves nothing running', async () => {
    const env = await ownSettings();
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(Number(env.POSTGRES_PORT), '127.0.0.1', resolve));
    const started = start(env);
    expect(await started.exited).toBe(1);
    holder.close();
    expect(started.output()).toContain(`Port ${env.POSTGRES_PORT} (POSTGRES_PORT) is taken`);
    expect(started.output()).toContain(`(process ${process.pid})`);
  });

  it('names missing settings of production, and embeds nothing', async () => {
    const started = start({ ...(await ownSettings()), NODE_ENV: 'production' });
    expect(await started.exited).toBe(1);
    for (const setting of [
      'DATABASE_URL',
      'TEMPORAL_ADDRESS',
      'NETWORKS_FILE',
      'KEYSTORE_PASSPHRASE_FILE',
      'TLS_CERT_FILE',
    ]) {
      expect(started.output()).toContain(setting);
    }
  });

  it('starts the service with its demo, and stops everything on SIGTERM', async () => {
    const env = await ownSettings();
    const dataDir = env.ORGWALLET_DATA_DIR;
    const started = start(env);
    await untilStarted(started);
    const demo = demoOf(dataDir);
    expect(demo).toMatchObject({
      origin: `https://localhost:${env.HTTPS_PORT}`,
      baseUrl: `https://localhost:${env.HTTPS_PORT}/api/v1`,
      admins: { threshold: 2 },
      networks: [{ id: 31337 }, { id: 31338 }],
    });
    expect(demo.admins.members).toHaveLength(4);
    expect(demo.members).toHaveLength(2);
    for (const file of [
      'demo.json',
      'stack.json',
      'owner.json',
      'signer/keystore-passphrase',
      'signer/keystore.json',
      'postgres/password',
    ]) {
      expect(statSync(join(dataDir, file)).mode & 0o077).toBe(0);
    }
    if (process.platform === 'linux') {
      const secrets = [
        'DATABASE_URL',
        'SIGNER_DATABASE_URL',
        'MIGRATION_DATABASE_URL',
        'KEYSTORE_PASSPHRASE_FILE',
      ];
      expect(settingsOf(dataDir, 'the service', secrets)).toEqual(['DATABASE_URL']);
      expect(settingsOf(dataDir, 'the signer', secrets)).toEqual([
        'SIGNER_DATABASE_URL',
        'KEYSTORE_PASSPHRASE_FILE',
      ]);
    }
    const stack = JSON.parse(readFileSync(join(dataDir, 'stack.json'), 'utf8'));
    expect(stack).not.toHaveProperty('MIGRATION_DATABASE_URL');
    expect(new URL(stack.DATABASE_URL).username).toBe('orgwallet_service');
    expect(new URL(stack.SIGNER_DATABASE_URL).username).toBe('orgwallet_signer');
    const pids = processes(dataDir);
    expect(pids).toHaveLength(7);
    started.child.kill('SIGTERM');
    expect(await started.exited).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
  }, 120_000);

  // Each starts everything once or twice more.
  if (DEEP) {
    it('resumes with the same data after kill -9', async () => {
      const env = await ownSettings();
      const dataDir = env.ORGWALLET_DATA_DIR;
      const first = start(env);
      await untilStarted(first);
      const demo = demoOf(dataDir);
      for (const pid of processes(dataDir)) process.kill(pid, 'SIGKILL');
      await first.exited;

      const second = start(env);
      await untilStarted(second);
      expect(demoOf(dataDir)).toEqual(demo);
      second.child.kill('SIGTERM');
      expect(await second.exited).toBe(0);
    }, 120_000);

    it('runs without the signer, for the commands that need it stopped', async () => {
      const env = await ownSettings();
      for (const more of [{}, { ORGWALLET_ROLES: 'api,worker,chain' }]) {
        const started = start({ ...env, ...more });
        await untilStarted(started);
        if ('ORGWALLET_ROLES' in more) {
          const own = { ORGWALLET_DATA_DIR: env.ORGWALLET_DATA_DIR };
          expect(await words(own, 'signer', 'reconcile-restore')).toContain('The database has all that');
        }
        started.child.kill('SIGTERM');
        expect(await started.exited).toBe(0);
      }
    }, 240_000);

    it('starts every part again that ends, with its data', async () => {
      const env = await ownSettings();
      const dataDir = env.ORGWALLET_DATA_DIR;
      const started = start(env);
      await untilStarted(started);
      const supervisor = recorded(dataDir).find(({ name }) => name === 'supervisor');
      for (const { name, pid } of recorded(dataDir)) {
        if (name === 'supervisor') continue;
        process.kill(pid, 'SIGKILL');
        await until(`${name} runs again`, async () =>
          recorded(dataDir).some((part) => part.name === name && part.pid !== pid && isAlive(part.pid)),
        );
        expect(started.output()).toContain(`${name} ended by itself (SIGKILL) and starts again in 1 s`);
        await until('everything is up', async () => (await statusOf(env)) === 'up', 60_000);
      }
      // A full disk, or a folder that is not writable: neither the record nor the log of a part can be opened.
      const signer = recorded(dataDir).find(({ name }) => name === 'the signer');
      const log = join(dataDir, 'logs', 'signer.log');
      mkdirSync(join(dataDir, 'supervisor.json.new'));
      renameSync(log, `${log}.kept`);
      mkdirSync(log);
      process.kill(Number(signer?.pid), 'SIGKILL');
      await until('it is tried again', async () =>
        started.output().includes('the signer ended by itself (EISDIR'),
      );
      rmdirSync(log);
      await until('everything is up', async () => (await statusOf(env)) === 'up', 90_000);
      // The status may still be that of before.
      await until('it says that it cannot record', async () =>
        started.output().includes('the running parts could not be recorded: EISDIR'),
      );
      rmdirSync(join(dataDir, 'supervisor.json.new'));
      const own = { ORGWALLET_DATA_DIR: dataDir };
      const demo = await spawned(own, process.execPath, 'dist/tools/demo/main.js');
      expect(demo).toMatchObject({ status: 0 });
      expect(recorded(dataDir)).toContainEqual(supervisor);
      const pids = processes(dataDir);
      started.child.kill('SIGTERM');
      expect(await started.exited).toBe(0);
      expect(pids.filter(isAlive)).toEqual([]);
    }, 300_000);
  }
});
