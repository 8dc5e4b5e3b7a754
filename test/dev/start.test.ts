import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { freePorts, temporaryDir } from '../support/stack';

const projectDir = join(__dirname, '..', '..');

interface Started {
  readonly child: ChildProcess;
  output(): string;
  readonly exited: Promise<number | null>;
}

async function ownSettings(): Promise<NodeJS.ProcessEnv & { ORGWALLET_DATA_DIR: string }> {
  const [https, http, ops, postgres, temporal, ui, anvil = 0] = await freePorts(7);
  return {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    XDG_CACHE_HOME: process.env.XDG_CACHE_HOME,
    TEMPORAL_CLI_PATH: process.env.TEMPORAL_CLI_PATH,
    ORGWALLET_DATA_DIR: temporaryDir(),
    HTTPS_PORT: String(https),
    HTTP_PORT: String(http),
    OPS_PORT: String(ops),
    POSTGRES_PORT: String(postgres),
    TEMPORAL_PORT: String(temporal),
    TEMPORAL_UI_PORT: String(ui),
    ANVIL_PORT: String(anvil),
  };
}

function start(env: NodeJS.ProcessEnv): Started {
  const child = spawn(process.execPath, ['src/dev/start.mjs'], { cwd: projectDir, env, stdio: 'pipe' });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      text += chunk;
    });
  }
  return { child, output: () => text, exited: new Promise((resolve) => child.once('exit', resolve)) };
}

async function untilReady({ child, output }: Started): Promise<void> {
  while (!output().includes('\norgwallet is ready\n')) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(output());
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Ids of the parts that the record in the data folder names, and of the supervisor. */
function processes(dataDir: string): number[] {
  const record = JSON.parse(readFileSync(join(dataDir, 'supervisor.json'), 'utf8'));
  return [record.supervisor, ...record.parts].map(({ pid }: { pid: number }) => pid);
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
  it('says which port is taken, by which setting and by whom, and leaves nothing running', async () => {
    const env = await ownSettings();
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(Number(env.POSTGRES_PORT), '127.0.0.1', resolve));
    const started = start(env);
    expect(await started.exited).toBe(1);
    holder.close();
    expect(started.output()).toContain(`Port ${env.POSTGRES_PORT} (POSTGRES_PORT) is taken`);
    expect(started.output()).toContain(`(process ${process.pid})`);
  });

  it('names what production lacks, and embeds nothing', async () => {
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

  it('stops everything on SIGTERM, comes back after kill -9, and ends when a part ends', async () => {
    const env = await ownSettings();
    const dataDir = env.ORGWALLET_DATA_DIR;
    const demo = () => JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'));

    const first = start(env);
    await untilReady(first);
    const made = demo();
    expect(made).toMatchObject({
      origin: `https://localhost:${env.HTTPS_PORT}`,
      baseUrl: `https://localhost:${env.HTTPS_PORT}/api/v1`,
      admins: { threshold: 2 },
      networks: [{ id: 31337 }, { id: 31338 }],
    });
    expect(made.admins.members).toHaveLength(4);
    expect(made.members).toHaveLength(2);
    for (const file of [
      'demo.json',
      'stack.json',
      'keystore-passphrase',
      'keystore.json',
      'postgres/password',
    ]) {
      expect(statSync(join(dataDir, file)).mode & 0o077).toBe(0);
    }
    let pids = processes(dataDir);
    expect(pids).toHaveLength(6);
    first.child.kill('SIGTERM');
    expect(await first.exited).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);

    const second = start(env);
    await untilReady(second);
    expect(demo()).toEqual(made);
    pids = processes(dataDir);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await second.exited;

    const third = start(env);
    await untilReady(third);
    expect(demo()).toEqual(made);
    pids = processes(dataDir);
    process.kill(pids[1] ?? 0, 'SIGKILL');
    expect(await third.exited).toBe(1);
    expect(third.output()).toContain('ended by itself');
    expect(pids.filter(isAlive)).toEqual([]);
  }, 120_000);
});
