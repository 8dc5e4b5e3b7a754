import { createDatabase, type Db, databaseNow } from '../../../src/db/database';
import { cutoffOfNow } from '../../../src/signer/recovery/cutOffRequests';
import { createTestDatabase } from '../../support/stack';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let owner: Db;

beforeAll(async () => {
  database = await createTestDatabase();
  owner = createDatabase(database.url, { poolMax: 1 });
});
afterAll(async () => {
  await owner?.destroy();
  await database?.drop();
});

const expiresUntil = async (db: Db) =>
  Date.parse(
    (await cutoffOfNow({ db, journal: { lastTime: () => 0 } }, { organizationId: null, lifetimeMs: HOUR_MS }))
      .expiresUntil,
  );

/** The owner's own clock, which the signer's login reads instead of that of the server. */
async function setClock(offset: string): Promise<Db> {
  await owner.raw('CREATE SCHEMA IF NOT EXISTS clock; GRANT USAGE ON SCHEMA clock TO PUBLIC');
  await owner.raw(`CREATE OR REPLACE FUNCTION clock.now() RETURNS timestamptz STABLE LANGUAGE sql
    AS $$ SELECT pg_catalog.now() + interval '${offset}' $$`);
  const [{ name }] = (await owner.raw('SELECT current_database() AS name')).rows;
  await owner.raw(`ALTER DATABASE ${name} SET search_path = clock, pg_catalog, public`);
  return createDatabase(database.signerUrl, { poolMax: 1 });
}

test.each([
  ['behind', '-30 days', 0],
  ['ahead', '30 days', 30 * DAY_MS],
])('a clock of the database that is %s moves the cutoff back in no case', async (_, offset, ahead) => {
  const signer = await setClock(offset);
  try {
    const shown = (await databaseNow(signer)).getTime() - Date.now();
    expect(Math.abs(shown)).toBeGreaterThan(29 * DAY_MS);
    const before = Date.now();
    expect(await expiresUntil(signer)).toBeGreaterThanOrEqual(before + ahead + HOUR_MS - 60_000);
    expect(await expiresUntil(signer)).toBeLessThanOrEqual(Date.now() + ahead + HOUR_MS + 60_000);
  } finally {
    await signer.destroy();
  }
});
