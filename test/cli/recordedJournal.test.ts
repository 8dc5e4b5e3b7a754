import { createDatabase, type Db } from '../../src/db/database';
import { parseLine } from '../../src/signer/journal/format';
import { PARTS, readJournaledRecord } from '../../src/signer/store/journaledRecords';
import { type RecordedJournal, recordedJournal } from '../journals/recorded';
import { databaseSettings, serviceSettings } from '../support/service';
import { createTestDatabase } from '../support/stack';
import { json, words } from './command';

let env: NodeJS.ProcessEnv;
let db: Db;
let recorded: RecordedJournal;

/** What a line of version 1 has in the place of a record, as its text is. */
type Rows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

/** The transactions that the journal has decided about, by the text of their lines. */
function decided(): { readonly text: string; readonly id: string; readonly rows: Rows }[] {
  return recorded.lines.flatMap((text) => {
    const { transactionId: id, rows } = JSON.parse(text).entry;
    return rows === undefined ? [] : [{ text, id, rows: JSON.parse(rows) }];
  });
}

beforeAll(async () => {
  const database = await createTestDatabase();
  recorded = recordedJournal('version1');
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

it('an empty database gets back all that a journal of version 1 has', async () => {
  expect(await json(env, 'signer', 'reconcile-restore', '--write')).toMatchObject({
    authorizations: [expect.any(String), expect.any(String), expect.any(String)],
    rejections: [expect.any(String)],
    cancellations: [expect.any(String)],
    unknownExecutions: [expect.any(String)],
    written: true,
  });
  expect(await words(env, 'signer', 'reconcile-restore')).toMatch(
    /has all that the journal and the chains have/,
  );
  for (const { id, text, rows } of decided()) {
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
    const { entry } = parseLine(text);
    const kept = entry.type === 'authorization' || entry.type === 'rejection' ? entry.record : undefined;
    expect(await readJournaledRecord(db, id)).toEqual(kept);
  }
  const paid = await db('transactions').where({ value: '1000000000000000001' });
  expect(paid).toHaveLength(1);
});

it('the journal has every column of the record of a transaction', async () => {
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
});
