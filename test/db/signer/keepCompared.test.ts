import { join } from 'node:path';
import { pino } from 'pino';
import { createDatabase, type Db } from '../../../src/db/database';
import { readJournalComparison } from '../../../src/db/journalComparison';
import { keepCompared } from '../../../src/signer/comparison/keepCompared';
import { type Journal, openJournal } from '../../../src/signer/journal/journal';
import { createTestDatabase, temporaryDir } from '../../support/stack';
import { until } from '../../support/until';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let owner: Db;
let signer: Db;
let journal: Journal;

beforeAll(async () => {
  database = await createTestDatabase();
  owner = createDatabase(database.url, { poolMax: 2 });
  signer = createDatabase(database.signerUrl, { poolMax: 2 });
  journal = await openJournal({ file: join(temporaryDir(), 'journal'), waitMs: 0 });
});
afterAll(async () => {
  await journal?.close();
  await Promise.all([owner, signer].map((db) => db?.destroy()));
  await database?.drop();
});

/** When it was compared last, in milliseconds. */
async function comparedAt(): Promise<number> {
  const row = await owner('journal_comparison').first('compared_at');
  return row?.compared_at?.getTime() ?? 0;
}

test('a comparison that fails for good is an error in the log, once', async () => {
  const errors: string[] = [];
  const logger = pino(
    { level: 'error' },
    { write: (line: string) => void errors.push(JSON.parse(line).msg) },
  );
  let failures = 0;
  signer.on('query-error', () => {
    failures += 1;
  });
  await owner.raw('REVOKE SELECT ON unknown_executions FROM orgwallet_signer');
  const kept = keepCompared({ db: signer, journal, logger, failureLastsMs: 1_000 });
  try {
    kept.again();
    await until('it has failed several times', async () => failures >= 4, 30_000);
    expect(errors).toEqual(['the database cannot be compared with the journal for 1 s; retrying']);
  } finally {
    await kept.stop();
    await owner.raw('GRANT SELECT ON unknown_executions TO orgwallet_signer');
  }
});

test('a comparison that was asked for while the database fails is made when it answers again', async () => {
  const kept = keepCompared({ db: signer, journal, logger: pino({ level: 'silent' }) });
  try {
    await until('it is compared', async () => (await readJournalComparison(signer)).isStarted);
    const before = await comparedAt();
    // What is compared cannot be read.
    await owner.raw('REVOKE SELECT ON unknown_executions FROM orgwallet_signer');
    const failed = new Promise<void>((resolve) =>
      signer.on('query-error', () => {
        resolve();
      }),
    );
    kept.again();
    await failed;
    expect(await comparedAt()).toBe(before);
    await owner.raw('GRANT SELECT ON unknown_executions TO orgwallet_signer');
    await until('it is compared again', async () => (await comparedAt()) > before);
  } finally {
    await kept.stop();
  }
});
