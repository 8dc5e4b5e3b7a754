import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { appendAudit } from '../../src/db/audit';
import { createDatabase, type Db } from '../../src/db/database';
import { type FeedPlace, readFeeds } from '../../src/db/feed';
import { SYSTEM } from '../../src/domain/actor';
import type { FeedEntry } from '../../src/domain/feedEvent';
import { makeOrganization, type TestOrganization } from '../support/service';
import { createTestDatabase, type TestDatabase } from '../support/stack';

const WRITERS = 8;
const TRANSACTIONS = 25;
const READERS = 3;

let database: TestDatabase;
let db: Db;
let killer: Client;
let org: TestOrganization;

beforeAll(async () => {
  database = await createTestDatabase();
  db = createDatabase(database.url, { poolMax: WRITERS + READERS });
  org = await makeOrganization(db);
  killer = new Client({ connectionString: database.url });
  await killer.connect();
});
afterAll(async () => {
  await killer?.end();
  await db?.destroy();
});

/** Ends a transaction as a killed process does: its connection breaks, before or with its commit. */
async function killed(mark: string): Promise<void> {
  await killer.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE $1 AND pid <> pg_backend_pid()`,
    [`%${mark}%`],
  );
}

/** One transaction of random length, which commits, is rolled back or is killed. */
async function write(writer: number, n: number): Promise<void> {
  const mark = `writer ${writer} ${n}`;
  const entries = Array.from({ length: 1 + Math.floor(Math.random() * 3) }, () => ({
    action: 'member.registered' as const,
    actor: SYSTEM,
    resourceType: 'member',
    resourceId: mark,
    details: {},
  }));
  const fate = Math.random();
  await db
    .transaction(async (tx) => {
      if (Math.random() < 0.5) await sleep(Math.random() * 4);
      await appendAudit(tx, org.id, entries);
      // The last statement of a killed transaction names it.
      if (fate < 0.2) {
        await tx.raw(`SELECT '${mark}' AS mark`);
        await Promise.all([killed(mark), sleep(3)]);
      }
      if (Math.random() < 0.3) await sleep(Math.random() * 10);
      if (fate > 0.85) throw new Error('rolled back');
    })
    .catch(() => undefined);
}

/** Follows the feed, beginning again from its place at random moments, as after a restart. */
async function follow(isOver: () => boolean): Promise<FeedEntry[]> {
  const seen: FeedEntry[] = [];
  let place: FeedPlace = { position: 0n, hash: '0'.repeat(64) };
  for (let last = false; ; ) {
    last ||= isOver();
    const part = (await readFeeds(db, new Map([[org.id, place.position]]), [])).feeds.get(org.id);
    if (!part) throw new Error('no feed');
    expect(part.hashAtPosition).toBe(place.hash);
    // A kill after some of it was handled.
    const handled =
      Math.random() < 0.3 ? part.entries.slice(0, Math.ceil(part.entries.length / 2)) : part.entries;
    seen.push(...handled);
    const end = handled.at(-1);
    if (end) place = { position: end.position, hash: end.hash };
    if (last && place.position === part.head.position) return seen;
    await sleep(Math.random() * 20);
  }
}

describe('the feed while it is written', () => {
  it('skips nothing, repeats nothing and shows nothing before its commit, whoever is killed', async () => {
    let isWritten = false;
    const followed = Promise.all(Array.from({ length: READERS }, () => follow(() => isWritten)));
    await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        for (let n = 0; n < TRANSACTIONS; n += 1) await write(writer, n);
      }),
    );
    isWritten = true;
    const stored = await db('audit_log').where({ organization_id: org.id }).orderBy('position');
    const committed = stored.map(({ id, position, hash, previous_hash }) => [
      id,
      position,
      hash,
      previous_hash,
    ]);
    // Enough of each fate.
    expect(committed.length).toBeGreaterThan(WRITERS * TRANSACTIONS * 0.6);
    for (const seen of await followed) {
      expect(seen.map(({ id, position, hash, previousHash }) => [id, position, hash, previousHash])).toEqual(
        committed,
      );
    }
    expect(committed.map(([, position]) => position)).toEqual(committed.map((_, n) => BigInt(n + 1)));
  }, 120_000);
});
