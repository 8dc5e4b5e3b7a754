import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import { databaseSettings, serviceSettings } from '../support/service';
import {
  asAdmin,
  createTestDatabase,
  sharedStack,
  startOwnPostgres,
  startOwnTemporal,
  temporaryDir,
} from '../support/stack';
import { until } from '../support/until';

const LIMIT_MS = 180_000;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let temporal: Awaited<ReturnType<typeof startOwnTemporal>>;
let service: ServiceProcess;

interface Answer {
  readonly unavailable: string[];
  readonly parts: { readonly [name: string]: { readonly reason?: string } };
}

/** Waits until the process says that it is ready, or that these parts keep it from being. */
async function untilUnavailable(...names: readonly string[]): Promise<Answer['parts']> {
  let parts: Answer['parts'] = {};
  await until(`unavailable: ${names.join(', ') || 'nothing'}`, async () => {
    const response = await fetch(`http://127.0.0.1:${service.config.ops.port}/readyz`);
    const body = (await response.json()) as Answer;
    parts = body.parts;
    const isExpected = JSON.stringify(body.unavailable.sort()) === JSON.stringify([...names].sort());
    return isExpected && response.status === (names.length === 0 ? 200 : 503);
  });
  return parts;
}

/** What sessions that begin now may do; those that are open are ended. */
async function setReadOnly(login: string | undefined, value: 'on' | 'off'): Promise<void> {
  await asAdmin(sharedStack().databaseAdminUrl, async (client) => {
    const whose = login ? `ROLE ${login} IN DATABASE ${database.name}` : `DATABASE ${database.name}`;
    await client.query(`ALTER ${whose} SET default_transaction_read_only = ${value}`);
    await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [
      database.name,
    ]);
  });
}

/** Starts a process with every role on a database. */
async function startOn(of: Parameters<typeof databaseSettings>[0]): Promise<void> {
  const env = { TEMPORAL_ADDRESS: temporal.current.address };
  const settings = await serviceSettings({ database: databaseSettings(of), env });
  service = await startServiceProcess(settings, { roles: ['api', 'worker', 'chain', 'signer'] });
}

beforeAll(async () => {
  database = await createTestDatabase();
  temporal = await startOwnTemporal();
}, LIMIT_MS);
afterEach(() => service?.stop());
afterAll(async () => {
  await temporal?.stop();
  await database?.drop();
});

test(
  'a process is ready while each of its logins can write and Temporal answers',
  async () => {
    await startOn(database);
    await untilUnavailable();
    await setReadOnly(undefined, 'on');
    await untilUnavailable('database', 'journal', 'signerDatabase');
    await setReadOnly(undefined, 'off');
    await untilUnavailable();
    await setReadOnly('orgwallet_signer', 'on');
    await untilUnavailable('signerDatabase');
    await setReadOnly('orgwallet_signer', 'off');
    await untilUnavailable();
    await temporal.stop();
    await untilUnavailable('temporal');
    await temporal.start();
    await untilUnavailable();
  },
  LIMIT_MS,
);

describe('on a small disk', () => {
  let disk: string;
  let postgres: Awaited<ReturnType<typeof startOwnPostgres>>;

  beforeAll(async () => {
    disk = temporaryDir();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=320m,mode=0755', 'tmpfs', disk]);
    postgres = await startOwnPostgres({ dir: join(disk, 'postgres') });
  }, LIMIT_MS);
  afterAll(async () => {
    await postgres?.stop();
    spawnSync('umount', [disk]);
  });

  it(
    'a process is not ready while the disk of the database is full, says so, and is ready once it has room',
    async () => {
      const filler = join(disk, 'filler');
      await startOn(postgres.database);
      await untilUnavailable();
      spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k']);
      spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=1k', 'oflag=append', 'conv=notrunc']);
      const parts = await untilUnavailable('database', 'signerDatabase');
      expect(parts.database?.reason).toMatch(
        /^the database cannot write to its disk: .*No space left on device/,
      );
      rmSync(filler);
      await untilUnavailable();
    },
    LIMIT_MS,
  );
});
