/** @deep */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../src/projectRoot';
import { readVersion, versionText } from '../../src/version';
import { spawned } from '../cli/command';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import { serviceSettings } from '../support/service';
import { sharedStack, startOwnTemporal } from '../support/stack';
import { itDeep } from '../support/suite';
import { until } from '../support/until';

const MAIN = join(projectRoot(), 'dist', 'src', 'main.js');
/** What the API's process answers at its ops port. */
let exposed: string;
const PRODUCTION_ROLES = [['signer'], ['api', 'worker', 'chain']] as const;

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly component?: string;
}

/** The lines of everything that a process has written. Throws for one that is not an object with what each line has. */
function linesOf(text: string, role: string): Line[] {
  const lines = text.split('\n').filter(Boolean);
  return lines.map((line) => {
    expect(line).toMatch(/^\{.*\}$/);
    const read = JSON.parse(line);
    expect(read).toMatchObject({
      level: expect.stringMatching(/^(trace|debug|info|warn|error|fatal)$/),
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      service: 'orgwallet',
      role,
      host: hostname(),
      version: versionText(),
      msg: expect.any(String),
    });
    return read;
  });
}

describe('a healthy start in production', () => {
  const running: ServiceProcess[] = [];
  let settings: NodeJS.ProcessEnv;

  beforeAll(async () => {
    settings = await serviceSettings({
      env: { NODE_ENV: 'production', LOG_LEVEL: 'info', RECONCILE_EVERY: '20s' },
    });
    const dir = settings.ORGWALLET_DATA_DIR ?? '';
    settings.TLS_CERT_FILE = join(dir, 'tls', 'cert.pem');
    settings.TLS_KEY_FILE = join(dir, 'tls', 'key.pem');
    for (const command of [
      ['db', 'migrate', '--production'],
      ['keystore', 'backup', '--out', join(dir, 'backup.json')],
    ]) {
      const main = join(projectRoot(), 'dist', 'src', 'cli', 'main.js');
      expect(await spawned(settings, process.execPath, main, ...command)).toMatchObject({ status: 0 });
    }
    // The first start registers the relayers, which are funded then.
    for (const roles of PRODUCTION_ROLES) running.push(await startServiceProcess(settings, { roles }));
    for (const part of running) {
      await part.stop();
      rmSync(part.logFile);
      await part.start();
      exposed = await (await fetch(`http://127.0.0.1:${part.config.ops.port}/metrics`)).text();
    }
  }, 240_000);
  afterAll(async () => {
    for (const part of running) await part.stop();
  });

  it('logs only lines of one format, with role, host and version, those of the Temporal SDK too', async () => {
    for (const [index, roles] of PRODUCTION_ROLES.entries()) {
      const lines = linesOf(readFileSync(running[index]?.logFile ?? '', 'utf8'), roles.join(','));
      expect(lines.map(({ msg }) => msg)).toContain('running');
      expect(lines.some(({ component }) => component === 'temporal')).toBe(true);
    }
  });

  it('warns of nothing, while it starts and when it stops', async () => {
    for (const part of running) {
      await part.stop();
    }
    const loud = running.flatMap(({ logFile, config }) =>
      linesOf(readFileSync(logFile, 'utf8'), config.roles.join(',')).filter(
        ({ level }) => level !== 'info' && level !== 'debug',
      ),
    );
    expect(loud).toEqual([]);
  });
});

it('the metrics tell builds apart', () => {
  const { version, revision } = readVersion();
  expect(revision).toMatch(/^([0-9a-f]{12}(-dirty)?|sources-[0-9a-f]{12})$/);
  expect(exposed).toContain(
    `orgwallet_build_info{version="${version}",revision="${revision}",roles="api,worker,chain"} 1`,
  );
});

describe('a start that fails', () => {
  it.each<[string, NodeJS.ProcessEnv, string]>([
    ['a setting that is malformed', { HTTPS_PORT: 'many' }, 'HTTPS_PORT: must be a whole number'],
    ['a role that does not exist', { ORGWALLET_ROLES: 'king' }, 'ORGWALLET_ROLES: '],
    ['a networks file that is missing', { NETWORKS_FILE: '/nowhere.json' }, 'NETWORKS_FILE: /nowhere.json'],
    ['a passphrase that is wrong', { ORGWALLET_ROLES: 'signer', KEYSTORE_PASSPHRASE: 'another one' }, ''],
    ['a login that is wrong', { DATABASE_URL: 'postgres://nobody:no@127.0.0.1:1/none' }, ''],
  ])(
    'says why in the format of all lines: %s',
    async (name, env, reason) => {
      const settings = await serviceSettings({ env: { LOG_LEVEL: 'silent', ...env } });
      if (name.startsWith('a login')) {
        const { port } = new URL(sharedStack().databaseAdminUrl);
        settings.DATABASE_URL = `postgres://nobody:no@127.0.0.1:${port}/none`;
      }
      const { status, stdout, stderr } = await spawned(
        { ...settings, NODE_ENV: 'test' },
        process.execPath,
        MAIN,
      );
      expect(stderr).toBe('');
      const lines = linesOf(stdout, settings.ORGWALLET_ROLES ?? 'api,worker,chain,signer');
      expect(lines.at(-1)).toMatchObject({ level: 'fatal', msg: expect.stringMatching(/^cannot start: \S/) });
      expect(lines.at(-1)?.msg).toContain(reason);
      expect(status).toBe(1);
    },
    60_000,
  );

  it('keeps the format for what Node prints: a warning, and an error that nothing handles', async () => {
    const settings = await serviceSettings({ env: { LOG_LEVEL: 'info' } });
    const hook = join(settings.ORGWALLET_DATA_DIR ?? '', 'hook.js');
    writeFileSync(
      hook,
      "process.emitWarning('beware'); setTimeout(() => { throw new Error('nobody expects this'); }, 100);",
    );
    const { status, stdout, stderr } = await spawned(
      { ...settings, NODE_ENV: 'test' },
      ...[process.execPath, '--require', hook, MAIN],
    );
    expect(stderr).toBe('');
    expect(linesOf(stdout, 'api,worker,chain,signer')).toMatchObject([
      { level: 'warn', err: { message: 'beware' } },
      { level: 'fatal', err: { message: 'nobody expects this' } },
    ]);
    expect(status).toBe(1);
  }, 60_000);
});

itDeep(
  'what the core of the Temporal SDK reports has the format too',
  async () => {
    const temporal = await startOwnTemporal();
    const settings = await serviceSettings({
      env: { LOG_LEVEL: 'info', TEMPORAL_ADDRESS: temporal.current.address },
    });
    const part = await startServiceProcess(settings, { roles: ['worker', 'chain'] });
    try {
      await temporal.stop();
      await until('its core has reported that calls fail', async () =>
        readFileSync(part.logFile, 'utf8').includes('poll_activity_task_queue'),
      );
      const lines = linesOf(readFileSync(part.logFile, 'utf8'), 'worker,chain');
      expect(lines.filter(({ component }) => component === 'temporal').map(({ level }) => level)).toContain(
        'warn',
      );
    } finally {
      await part.kill();
      await temporal.stop().catch(() => undefined);
    }
  },
  180_000,
);
