import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { loadConfig } from '../../src/config';
import { createDatabase, type Db } from '../../src/db/database';
import { projectRoot } from '../../src/projectRoot';
import { leaseFile, openJournal } from '../../src/signer/journal/journal';
import { type Part, startPart } from '../../tools/dev/parts';
import { databaseSettings, serviceSettings } from '../support/service';
import { createTestDatabase, freePorts, temporaryDir } from '../support/stack';
import { until } from '../support/until';

const LIMIT_MS = 120_000;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Db;
let settings: NodeJS.ProcessEnv;

beforeAll(async () => {
  database = await createTestDatabase();
  db = createDatabase(database.url, { poolMax: 1 });
  settings = await serviceSettings({ database: databaseSettings(database), env: { LOG_LEVEL: 'info' } });
}, LIMIT_MS);
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});

/** A process that starts, and what it has logged. */
function starting(roles: string, more: NodeJS.ProcessEnv = {}): Part & { log(): string } {
  const logFile = join(temporaryDir(), 'log');
  const part = startPart({
    name: roles,
    command: process.execPath,
    args: [join(projectRoot(), 'dist', 'src', 'main.js')],
    env: { PATH: process.env.PATH, NODE_ENV: 'test', ...settings, ...more, ORGWALLET_ROLES: roles },
    logFile,
    stopSignal: 'SIGTERM',
    stopLimitMs: 20_000,
  });
  return Object.assign(part, { log: () => readFileSync(logFile, 'utf8') });
}

/** Sends SIGTERM to a process that starts, and expects that it ends in order, and does not run before. */
async function expectEnded(part: ReturnType<typeof starting>): Promise<void> {
  const begunAt = performance.now();
  process.kill(part.pid, 'SIGTERM');
  expect(await part.exited).toEqual({ code: 0, signal: null });
  expect(performance.now() - begunAt).toBeLessThan(15_000);
  expect(part.log()).toContain('"msg":"stopped before it was running"');
  expect(part.log()).not.toMatch(/"msg":"running"|"level":"(error|fatal)"/);
}

describe('a process that gets SIGTERM while it starts', () => {
  it(
    'ends in order where a signer waits for the journal of another one',
    async () => {
      const { journalFile } = loadConfig(settings);
      const held = await openJournal({ file: journalFile, waitMs: 0 });
      try {
        const signer = starting('signer');
        await until('it waits', async () => signer.log().includes('waiting for the journal'), LIMIT_MS);
        await expectEnded(signer);
        held.assertCurrent();
      } finally {
        await held.close();
      }
    },
    LIMIT_MS,
  );

  it(
    'gives the journal up where a signer waits for the lease in the database',
    async () => {
      const { journalFile } = loadConfig(settings);
      const heldUntil = db.raw(`now() + interval '10 min'`);
      await db('signer_lease').update({ holder: 'another', host: 'elsewhere', held_until: heldUntil });
      const signer = starting('signer');
      await until('it waits', async () => signer.log().includes('waiting for the journal'), LIMIT_MS);
      expect(existsSync(leaseFile(journalFile))).toBe(true);
      await expectEnded(signer);
      expect(existsSync(leaseFile(journalFile))).toBe(false);
      await db('signer_lease').update({ holder: null });
    },
    LIMIT_MS,
  );

  it.each(['api', 'worker', 'chain', 'signer'])(
    'ends in order where %s waits for Postgres',
    async (roles) => {
      let connections = 0;
      const silent = createServer((socket) => {
        connections += 1;
        socket.destroy();
      });
      const [port = 0] = await freePorts(1);
      await new Promise<void>((resolve) => silent.listen(port, '127.0.0.1', resolve));
      try {
        const url = `postgres://x:y@127.0.0.1:${port}/orgwallet`;
        const part = starting(roles, { DATABASE_URL: url, SIGNER_DATABASE_URL: url });
        // The first ones only ask whether it is one of production.
        await until('it waits', async () => connections >= 5, LIMIT_MS);
        await expectEnded(part);
      } finally {
        await new Promise((resolve) => silent.close(resolve));
      }
    },
    LIMIT_MS,
  );
});
