import { createDatabase } from '../../src/db/database';
import { migrate, schemaLacks } from '../../src/db/migrate';
import { type Migration, migrations } from '../../src/db/migrations';
import { PROPOSE, startApi } from '../support/api';
import type { Ask } from '../support/http';
import { createTestDatabase } from '../support/stack';
import { until } from '../support/until';

/** As the next release would have: a column that this release does not know, in the tables that it uses most. */
const added = ['members', 'approvals', 'transactions', 'proposals', 'api_keys', 'idempotency_requests'].map(
  (table, index): Migration => ({
    name: `002_${index}_${table}`,
    async up(knex) {
      await knex.raw('ALTER TABLE ?? ADD COLUMN added_later text', [table]);
    },
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
    expect(await schemaLacks(service, steps)).toEqual(names);
    expect(await schemaLacks(service)).toEqual([]);
    expect(await migrate(database.url, { steps })).toEqual({ applied: names });
    expect(await schemaLacks(service, steps)).toEqual([]);
    // This release runs against the schema of the next one.
    expect(await schemaLacks(service)).toEqual([]);
  } finally {
    await Promise.all([db.destroy(), service.destroy()]);
    await database.drop();
  }
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
