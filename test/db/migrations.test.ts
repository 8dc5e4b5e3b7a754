/** @deep */
import { createDatabase } from '../../src/db/database';
import { readJournalComparison } from '../../src/db/journalComparison';
import { migrate } from '../../src/db/migrate';
import { type Migration, migrationHash, migrations } from '../../src/db/migrations';
import { refuseSchema, schemaState } from '../../src/db/schemaState';
import { refuseUncompared } from '../../src/domain/journalComparison';
import { UNKNOWN_POSITION } from '../../src/domain/signerLease';
import { readSignerLease } from '../../src/signer/store/signerLease';
import { command, refused } from '../cli/command';
import { PROPOSE, startApi } from '../support/api';
import type { Ask } from '../support/http';
import { databaseSettings, serviceSettings, startServicePart } from '../support/service';
import { createTestDatabase } from '../support/stack';
import { itDeep } from '../support/suite';
import { until } from '../support/until';

/** As the next release would have: a column that this release does not know, in the tables that it uses most. */
const added = ['members', 'approvals', 'transactions', 'proposals', 'api_keys', 'idempotency_requests'].map(
  (table, index): Migration => ({
    name: `002_${index}_${table}`,
    sql: `ALTER TABLE ${table} ADD COLUMN added_later text`,
  }),
);
const names = added.map(({ name }) => name);
const steps = [...migrations, ...added];

test('a migration that waits for a table changes nothing, and is done when it is called again', async () => {
  const database = await createTestDatabase();
  const db = createDatabase(database.url, { poolMax: 2 });
  const service = createDatabase(database.serviceUrl, { poolMax: 1 });
  try {
    await db.transaction(async (tx) => {
      await tx('members').first();
      await expect(migrate(database.url, { steps, lockLimitMs: 200 })).rejects.toMatchObject({
        code: '55P03',
      });
    });
    expect((await schemaState(service, steps)).missing).toEqual(names);
    expect((await schemaState(service)).missing).toEqual([]);
    expect(await migrate(database.url, { steps })).toEqual({ applied: names });
    expect((await schemaState(service, steps)).missing).toEqual([]);
    // This release runs against the schema of the next one.
    expect((await schemaState(service)).missing).toEqual([]);
  } finally {
    await Promise.all([db.destroy(), service.destroy()]);
    await database.drop();
  }
});

test('a deleted row of the lease or of the comparison is there again, and closes the API until it is compared', async () => {
  const database = await createTestDatabase();
  const owner = createDatabase(database.url, { poolMax: 1 });
  try {
    await owner('signer_lease').delete();
    await owner('journal_comparison').delete();
    for (const read of [readSignerLease, readJournalComparison]) {
      await expect(read(owner)).rejects.toThrow(/has no row: run `\.\/orgwallet db migrate`$/);
    }
    expect(await migrate(database.url)).toEqual({ applied: [] });
    expect(await readSignerLease(owner)).toMatchObject({ isHeld: false, position: UNKNOWN_POSITION });
    expect(refuseUncompared(await readJournalComparison(owner))).toMatch(/has not compared it/);
    await owner('signer_lease').update({ fencing: 7n });
    await migrate(database.url);
    expect((await readSignerLease(owner)).fencing).toBe(7n);
  } finally {
    await owner.destroy();
    await database.drop();
  }
});

describe('a database that another build has migrated', () => {
  const other = [{ name: '001_initial', sql: `${migrations[0]?.sql} -- as it was before` }];

  itDeep('is refused by every role, by db migrate and by doctor', async () => {
    const database = await createTestDatabase();
    const env = await serviceSettings({ database: databaseSettings(database) });
    const owner = createDatabase(database.url, { poolMax: 1 });
    try {
      const earlier = other.map((step) => ({ name: step.name, hash: migrationHash(step) }));
      for (const row of earlier) await owner('schema_migrations').where({ name: row.name }).update(row);
      const found = /001_initial of this database is another migration than in this build/;
      expect(refuseSchema(await schemaState(owner))).toMatch(found);
      expect(await refused(env, 'db', 'migrate')).toMatch(found);
      const doctor = JSON.parse((await command(env, 'doctor', '--json')).stdout);
      const schema = doctor.find(({ part }: { part: string }) => part === 'schema');
      expect(schema).toMatchObject({ status: 'fail', found: expect.stringMatching(found) });
      for (const ORGWALLET_ROLES of ['api', 'worker', 'chain', 'signer']) {
        const start = startServicePart({ ...env, ORGWALLET_ROLES });
        await expect(start).rejects.toThrow(found);
      }
    } finally {
      await owner.destroy();
      await database.drop();
    }
  });

  test('is refused where that build kept no hashes', async () => {
    const database = await createTestDatabase();
    const owner = createDatabase(database.url, { poolMax: 1 });
    try {
      await owner.raw('ALTER TABLE schema_migrations DROP COLUMN hash');
      expect(refuseSchema(await schemaState(owner))).toMatch(/^001_initial/);
      await expect(migrate(database.url)).rejects.toThrow(/^001_initial/);
    } finally {
      await owner.destroy();
      await database.drop();
    }
  });
});

test('a service goes on while the schema of the next release is added: no request fails', async () => {
  const api = await startApi();
  try {
    const org = await api.createOrganization();
    const statuses: number[] = [];
    const failures: string[] = [];
    let going = true;
    const ask = async (request: Ask) => {
      while (going) {
        const { status, text } = await api.http.send(request);
        statuses.push(status);
        if (status >= 500) failures.push(`${request.path}: ${text}`);
      }
    };
    const reading = ['/api/v1/accounts/proposals', '/api/v1/members', '/api/v1/transactions'];
    const body = { items: [{ name: 'Upgraded', networkIds: [31337] }] };
    const asking = Promise.all([
      ...reading.map((path) => ask({ key: org.readKey, path })),
      ask({ key: org.adminKey, path: PROPOSE, body }),
    ]);
    const more = (answers: number) => {
      const from = statuses.length;
      return until(`${answers} more answers`, async () => statuses.length >= from + answers);
    };
    await more(50);
    await migrate(api.env.MIGRATION_DATABASE_URL ?? '', { steps });
    await more(100);
    going = false;
    await asking;
    expect(statuses).toEqual(expect.arrayContaining([200, 201]));
    expect(failures).toEqual([]);
  } finally {
    await api.stop();
  }
});
