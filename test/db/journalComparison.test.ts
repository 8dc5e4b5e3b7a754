import { createDatabase, type Db } from '../../src/db/database';
import { readJournalComparison } from '../../src/db/journalComparison';
import { refuseUncompared } from '../../src/domain/journalComparison';
import { recordJournalComparison } from '../../src/signer/store/comparisonRecord';
import { asAdmin, copyDatabase, createTestDatabase, databaseNamed, sharedStack } from '../support/stack';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let owner: Db;
let service: Db;
let signer: Db;

beforeAll(async () => {
  database = await createTestDatabase();
  [owner, service, signer] = [database.url, database.serviceUrl, database.signerUrl].map((url) =>
    createDatabase(url),
  ) as [Db, Db, Db];
});
afterAll(async () => {
  await Promise.all([owner, service, signer].map((db) => db?.destroy()));
  await database?.drop();
});

const refusal = async (db = service) => refuseUncompared(await readJournalComparison(db));
const compare = async (missing: string | null) => {
  const { server } = await readJournalComparison(signer);
  return recordJournalComparison(signer, { server, missing });
};

it('refuses nothing before a signer has compared', async () => {
  expect(await refusal()).toBeUndefined();
});

it('refuses what the signer has found missing, and nothing else', async () => {
  expect(await compare(null)).toBe(true);
  expect(await refusal()).toBeUndefined();
  expect(await compare('the database lacks 1 authorization of the journal: txn_1')).toBe(true);
  expect(await refusal()).toBe(
    'the database was rolled back: the database lacks 1 authorization of the journal: txn_1',
  );
});

it('records nothing for another start of the server', async () => {
  expect(await recordJournalComparison(signer, { server: '1/2/3', missing: null })).toBe(false);
});

it('is written by the signer alone', async () => {
  await expect(service('journal_comparison').update({ missing: null })).rejects.toThrow('permission denied');
});

it('refuses a copy of the database until it is compared', async () => {
  await compare(null);
  const copy = `${database.name}_copy`;
  await copyDatabase(database.name, copy);
  const db = createDatabase(databaseNamed(copy).serviceUrl);
  try {
    expect(await refusal(db)).toMatch(/^the database server was started, restored or replaced/);
  } finally {
    await db.destroy();
    await asAdmin(sharedStack().databaseAdminUrl, async (client) => {
      await client.query(`drop database ${copy} with (force)`);
    });
  }
});

it('refuses tables that were restored into the same database until they are compared', async () => {
  await compare(null);
  expect(await refusal()).toBeUndefined();
  await owner.raw(`BEGIN; CREATE TEMP TABLE dump AS SELECT * FROM journal_comparison; TRUNCATE journal_comparison;
    INSERT INTO journal_comparison SELECT * FROM dump; COMMIT`);
  expect(await refusal()).toMatch(/^the database server was started, restored or replaced/);
  await compare(null);
  expect(await refusal()).toBeUndefined();
});
