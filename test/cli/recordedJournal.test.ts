import { createDatabase, type Db } from '../../src/db/database';
import type { JournaledRecord } from '../../src/domain/journaledRecord';
import { recordOfRows } from '../../src/signer/journal/tableRows';
import { PARTS, readJournaledRecord } from '../../src/signer/store/journaledRecords';
import { recordJournal } from '../journals/record';
import { type RecordedJournal, recordedJournal } from '../journals/recorded';
import { databaseSettings, serviceSettings } from '../support/service';
import { createTestDatabase } from '../support/stack';
import { json, words } from './command';

/** `npm run journal` makes the one of the version that is written anew, before it is read. */
const RECORDING = process.env.RECORD_JOURNAL !== undefined;

/** What a line of version 1 has in the place of a record. */
type Rows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

/** The transactions that a journal has decided about, each with its line's record; in version 1, with `rows`. */
function decided({ lines }: RecordedJournal) {
  return lines.flatMap((text): { id: string; rows?: string; record?: JournaledRecord }[] => {
    const { transactionId: id, rows, record } = JSON.parse(text).entry;
    return rows === undefined && record === undefined ? [] : [{ id, rows, record }];
  });
}

beforeAll(async () => {
  if (RECORDING) await recordJournal();
}, 600_000);

describe.each([
  ['version1', 3],
  ['version2', 4],
])('a journal of %s', (name, authorizations) => {
  let env: NodeJS.ProcessEnv;
  let db: Db;
  let recorded: RecordedJournal;

  beforeAll(async () => {
    const database = await createTestDatabase();
    recorded = recordedJournal(name);
    env = {
      ...(await serviceSettings({ database: databaseSettings(database) })),
      KEYSTORE_FILE: recorded.keystoreFile,
      JOURNAL_FILE: recorded.journalFile,
      KEYSTORE_PASSPHRASE: 'correct horse battery staple',
      RECOVERY_DATABASE_URL: database.url,
    };
    db = createDatabase(database.url, { poolMax: 2 });
    const { installationId } = JSON.parse(recorded.lines[0] ?? '').entry;
    await db('installation').update({ id: installationId });
  });
  afterAll(() => db?.destroy());

  it('is written back to an empty database, all of it', async () => {
    expect(await json(env, 'signer', 'reconcile-restore', '--write')).toMatchObject({
      authorizations: Array(authorizations).fill(expect.any(String)),
      rejections: [expect.any(String)],
      cancellations: [expect.any(String)],
      unknownExecutions: [expect.any(String)],
      written: true,
    });
    expect(await words(env, 'signer', 'reconcile-restore')).toMatch(
      /has all that the journal and the chains have/,
    );
    const transactions = decided(recorded);
    expect(transactions).toHaveLength(authorizations + 1);
    for (const { id, rows, record } of transactions) {
      // What the line has, under the names that it has: no field is lost.
      expect(await readJournaledRecord(db, id)).toEqual(record ?? recordOfRows(rows ?? ''));
      if (rows !== undefined) await expectRows(id, JSON.parse(rows));
    }
    const paid = await db('transactions').where({ value: '1000000000000000001' });
    expect(paid).toHaveLength(1);
  });

  /** Compares what is written back with the rows of a line of version 1. */
  async function expectRows(id: string, rows: Rows): Promise<void> {
    for (const { table, of } of Object.values(PARTS)) {
      const found: readonly { readonly row: object }[] = await db(`${table} as r`)
        .where(of, id)
        .orderBy('id')
        .select(db.raw('to_jsonb(r) AS row'));
      // The ids of these rows, and the position in the audit log, are made anew.
      const identity = of === 'id' ? {} : { id: expect.any(Number) };
      const position = of === 'id' ? { position: expect.any(Number) } : {};
      // References are not signed: the journal has none.
      const written =
        table === 'transactions'
          ? {
              ...{
                external_id: null,
                metadata: {},
                tags: [],
                organization_id: expect.stringMatching(/^org_/),
              },
              terms: expect.stringContaining(id.replace('txn_', '')),
            }
          : {};
      expect(found.map(({ row }) => row)).toEqual(
        rows[table]?.map((row) => ({ ...row, ...identity, ...position, ...written })),
      );
    }
  }
});

it('the journal has every column of the record of a transaction', async () => {
  const database = await createTestDatabase();
  const db = createDatabase(database.url, { poolMax: 1 });
  for (const { table, columns } of Object.values(PARTS)) {
    const written: string[] = await db('information_schema.columns')
      .where({ table_schema: 'public', table_name: table, is_identity: 'NO', is_generated: 'NEVER' })
      .pluck('column_name');
    // Every one is a transaction of its approval's organization, its audit entry gives the position, searches find it by terms made of
    // the rest, and references are not signed.
    const references = ['external_id', 'metadata', 'tags'];
    const others =
      {
        approvals: ['subject', 'position'],
        transactions: ['organization_id', 'position', 'terms', ...references],
      }[table] ?? [];
    expect([...Object.values(columns), ...others].sort()).toEqual(written.sort());
  }
  await db.destroy();
});
