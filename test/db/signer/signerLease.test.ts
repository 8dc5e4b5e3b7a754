import { copyFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase, type Db } from '../../../src/db/database';
import { newId } from '../../../src/db/ids';
import { migrate } from '../../../src/db/migrate';
import type { SharedSettings } from '../../../src/domain/settingDifferences';
import type { FreezeEntry, SealEntry } from '../../../src/signer/journal/entries';
import { type Journal, openJournal } from '../../../src/signer/journal/journal';
import {
  readSignerLease,
  readSignerSettings,
  recordSignerSettings,
  signerLease,
} from '../../../src/signer/store/signerLease';
import { createTestDatabase, type TestDatabase, temporaryDir } from '../../support/stack';
import { until } from '../../support/until';

let database: TestDatabase & { drop(): Promise<void> };
/** Of the owner of the tables, and of the signer. */
let db: Db;
let signerDb: Db;
let serviceDb: Db;
const opened: Journal[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  db = createDatabase(database.url, { poolMax: 2 });
  signerDb = createDatabase(database.signerUrl, { poolMax: 4 });
  serviceDb = createDatabase(database.serviceUrl, { poolMax: 1 });
});
beforeEach(() =>
  db('signer_lease').update({
    ...{ fencing: 0n, holder: null, host: null, process: null, held_since: null, held_until: null },
    ...{ journal_lines: 0n, journal_hash: '0'.repeat(64), settings: null },
  }),
);
afterEach(async () => {
  for (const journal of opened.splice(0)) await journal.close().catch(() => undefined);
});
afterAll(async () => {
  await Promise.all([db, signerDb, serviceDb].map((pool) => pool.destroy()));
  await database.drop();
});

const aLine = (): FreezeEntry => ({ type: 'freeze', organizationId: 'org_1', id: newId('key') });
const aFile = () => join(temporaryDir(), 'journal');

async function started(file: string, more: Partial<Parameters<typeof openJournal>[0]> = {}) {
  const journal = await openJournal({ file, waitMs: 0, leaseRow: signerLease(signerDb), ...more });
  opened.push(journal);
  return journal;
}

/** Another directory with a copy of a journal. */
function copyOf(file: string): string {
  const copy = aFile();
  copyFileSync(file, copy);
  return copy;
}

/** The hold of the last signer ends, as the database's clock sees it. */
const expire = () => db('signer_lease').update({ held_until: db.raw(`now() - interval '1 ms'`) });

test('a signer with a copy of the journal on another disk is refused, and told who holds the lease', async () => {
  const first = await started(aFile());
  await first.append(aLine());
  await first.assertSignable();
  const lease = await readSignerLease(db);
  expect(lease).toMatchObject({ fencing: 1n, host: hostname(), process: process.pid, isHeld: true });
  expect(lease.position).toEqual({ lines: 1, hash: first.position().hash });
  await expect(started(copyOf(first.file))).rejects.toThrow(
    `process ${process.pid} on ${hostname()}, since ${lease.since?.toISOString()}, until ${lease.until?.toISOString()}, holds the lease`,
  );
});

test('when its lease has ended, the other one takes over, and it signs nothing any more', async () => {
  const lost: Error[] = [];
  const first = await started(aFile(), { onLost: (error) => lost.push(error) });
  await first.append(aLine());
  await first.assertSignable();
  const before = first.hold();
  const copy = copyOf(first.file);
  const waiting: string[] = [];
  const second = started(copy, { waitMs: 20_000, onWaiting: (holder) => waiting.push(holder) });
  await until('the second waits', async () => waiting.length > 0);
  // For longer than it takes to renew a hold.
  await sleep(6_000);
  await expire();
  expect((await second).hold()?.fencing).toBe(2n);
  await (await second).assertSignable();
  expect(waiting).toHaveLength(1);
  // It has not noticed: what it signed last is not stored.
  expect(before && (await db('signer_lease').where({ ...before }))).toEqual([]);
  await first.append(aLine());
  await expect(first.assertSignable()).rejects.toThrow(/has taken the lease of the signer over/);
  expect(lost).toEqual([expect.objectContaining({ message: expect.stringContaining(hostname()) })]);
  await expect(first.append(aLine())).rejects.toThrow(/taken the lease of the signer over/);
  expect(() => first.assertCurrent()).toThrow(/taken the lease of the signer over/);
});

test('a signer whose process has ended is followed at once by one with the same journal', async () => {
  const file = aFile();
  const first = await started(file);
  await first.append(aLine());
  await first.assertSignable();
  await first.close();
  expect(await readSignerLease(db)).toMatchObject({ holder: null, isHeld: false });
  const second = await started(file);
  expect(second.hold()?.fencing).toBe(2n);
});

test.each([
  ['shorter', /the journal has 1 lines, and the signer has written 2: it is a copy or a backup/],
  ['of other lines', /line 2 of the journal is not the one that the signer has written.*has forked/],
])('a journal that is %s than the one of the last signer is refused at once', async (which, message) => {
  const first = await started(aFile());
  await first.append(aLine());
  const copy = copyOf(first.file);
  await first.append(aLine());
  await first.close();
  if (which === 'of other lines') {
    const alone = await openJournal({ file: copy, waitMs: 0 });
    await alone.append(aLine());
    await alone.append(aLine());
    await alone.close();
  }
  await expect(started(copy, { waitMs: 20_000 })).rejects.toThrow(message);
  // The one that it is of goes on.
  await (await started(first.file)).assertSignable();
});

test('a journal that has forked while its signer runs is noticed at the next signature', async () => {
  const first = await started(aFile());
  await first.append(aLine());
  await first.assertSignable();
  await db('signer_lease').update({ journal_hash: 'f'.repeat(64) });
  await first.append(aLine());
  await expect(first.assertSignable()).rejects.toThrow(/line 1 of the journal is not the one/);
});

test('a journal that goes on further than the database knows is taken, and that is reported', async () => {
  const file = aFile();
  const behind: number[] = [];
  const first = await started(file);
  await first.append(aLine());
  await first.close();
  const before = await db('signer_lease').first();
  const second = await started(file);
  await second.append(aLine());
  await second.close();
  // A backup is restored.
  await db('signer_lease').update({ ...before });
  const third = await started(file, { onDatabaseBehind: ({ lines }) => behind.push(lines) });
  expect(behind).toEqual([1]);
  expect((await readSignerLease(db)).position).toEqual(third.position());
});

test('a database that is rolled back under a running signer is noticed, and that one goes on', async () => {
  const behind: number[] = [];
  const lost: Error[] = [];
  const before = await db('signer_lease').first();
  const journal = await started(aFile(), {
    onDatabaseBehind: ({ lines }) => behind.push(lines),
    onLost: (error) => lost.push(error),
  });
  await journal.append(aLine());
  await journal.assertSignable();
  const held = await db('signer_lease').first();
  await journal.append(aLine());
  await journal.assertSignable();
  const later = journal.hold();
  // To a moment of its own hold, and to one before it.
  await db('signer_lease').update({ ...held });
  await journal.append(aLine());
  await journal.assertSignable();
  expect(behind).toEqual([1]);
  expect(journal.hold()).toEqual(later);
  await db('signer_lease').update({ ...before });
  await journal.append(aLine());
  await journal.assertSignable();
  expect(behind).toEqual([1, 0]);
  expect(journal.hold()?.fencing).toBe(2n);
  expect(lost).toEqual([]);
  expect(await readSignerLease(db)).toMatchObject({ fencing: 2n, position: journal.position() });
});

test('a database whose answer was lost is not taken for one that was rolled back', async () => {
  const row = signerLease(signerDb);
  let isLosing = false;
  const behind: number[] = [];
  const journal = await started(aFile(), {
    onDatabaseBehind: ({ lines }) => behind.push(lines),
    leaseRow: {
      ...row,
      async renew(hold, how) {
        const renewed = await row.renew(hold, how);
        if (isLosing) throw new Error('Connection terminated');
        return renewed;
      },
    },
  });
  await journal.append(aLine());
  isLosing = true;
  await expect(journal.assertSignable()).rejects.toThrow('Connection terminated');
  isLosing = false;
  await journal.assertSignable();
  expect(behind).toEqual([]);
});

test('while the database does not answer nothing is signed, and it goes on when it does', async () => {
  const row = signerLease(signerDb);
  let isAway = false;
  const journal = await started(aFile(), {
    leaseRow: {
      ...row,
      renew: (hold, how) => (isAway ? Promise.reject(new Error('away')) : row.renew(hold, how)),
    },
  });
  isAway = true;
  await journal.append(aLine());
  await expect(journal.assertSignable()).rejects.toThrow('away');
  isAway = false;
  await journal.assertSignable();
});

test('a database that does not answer for longer than a hold lasts does not end the signer', async () => {
  const row = signerLease(signerDb);
  let isAway = false;
  const lost: Error[] = [];
  const aSeal = {
    type: 'seal',
    organizationId: 'org_1',
    sequence: 0,
    hash: 'h',
    body: '{}',
    signature: '0x',
  };
  const journal = await started(aFile(), {
    onLost: (error) => lost.push(error),
    leaseRow: {
      ...row,
      renew: (hold, how) => (isAway ? Promise.reject(new Error('away')) : row.renew(hold, how)),
    },
  });
  isAway = true;
  await sleep(20_000);
  expect(() => journal.assertCurrent()).toThrow(/was not renewed in time/);
  await expect(journal.append(aSeal as SealEntry)).rejects.toThrow('away');
  // A freeze is in force at once.
  await journal.append(aLine());
  expect(journal.freezeOf('org_1')).toBeDefined();
  isAway = false;
  await journal.append(aSeal as SealEntry);
  await journal.assertSignable();
  journal.assertCurrent();
  expect(lost).toEqual([]);
}, 40_000);

test('the login of the service reads the lease and cannot change it', async () => {
  expect(await readSignerLease(serviceDb)).toMatchObject({ isHeld: false });
  await expect(serviceDb('signer_lease').update({ holder: 'x' })).rejects.toThrow(/permission denied/);
  await expect(signerDb('signer_lease').delete()).rejects.toThrow(/permission denied/);
});

test('a journal whose completion was broken off is refused, and completed again, however far it goes', async () => {
  const first = await started(aFile());
  await first.append(aLine());
  const backup = copyOf(first.file);
  await first.append(aLine());
  await first.close();

  const broken = await started(backup, { isToBeCompleted: true });
  await broken.beginCompleting();
  await broken.append(aLine());
  await broken.append(aLine());
  await broken.close();
  await expect(started(backup)).rejects.toThrow(
    /completing the journal was broken off: run `.* reconcile-restore --write` again/,
  );

  const again = await started(backup, { isToBeCompleted: true });
  await again.append(aLine());
  await again.publish();
  await again.close();
  expect((await readSignerLease(db)).position).toEqual({ lines: 4, hash: again.position().hash });
  await (await started(backup)).assertSignable();
});

test('of many that start at the same instant, one takes the lease', async () => {
  const source = await started(aFile());
  await source.append(aLine());
  await source.close();
  const files = Array.from({ length: 8 }, () => copyOf(source.file));
  const results = await Promise.allSettled(files.map((file) => started(file)));
  const refusals = results.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
  expect(refusals).toHaveLength(7);
  for (const refusal of refusals) expect(refusal).toMatch(/holds the lease of the signer/);
  expect((await readSignerLease(db)).fencing).toBe(2n);
});

test('when its row is deleted nothing is signed, and it goes on when the row is there again', async () => {
  const lost: Error[] = [];
  const first = await started(aFile(), { onLost: (error) => lost.push(error) });
  await first.append(aLine());
  await first.assertSignable();
  const row = await db('signer_lease').first();
  await db('signer_lease').delete();
  await expect(first.append(aLine()).then(() => first.assertSignable())).rejects.toThrow(/has no row/);
  await db('signer_lease').insert({ ...row });
  await first.assertSignable();
  expect(await readSignerLease(db)).toMatchObject({ isHeld: true, position: first.position() });
  expect(lost).toEqual([]);
});

const PUT_BACK: [string, () => Promise<unknown>][] = [
  ['by db migrate', () => migrate(database.url)],
  ['by its defaults', () => db.raw('INSERT INTO signer_lease DEFAULT VALUES')],
  ['with another number', () => db('signer_lease').insert({ fencing: 1_000n })],
];

test.each(PUT_BACK)('a row that is put back %s ends a running signer, which says why', async (_, putBack) => {
  const lost: Error[] = [];
  const first = await started(aFile(), { onLost: (error) => lost.push(error) });
  await first.append(aLine());
  await first.assertSignable();
  const { lines, hash } = first.position();
  await db('signer_lease').delete();
  await putBack();
  await until('it is lost', async () => lost.length > 0);
  expect(lost).toEqual([
    expect.objectContaining({
      message: expect.stringMatching(
        new RegExp(
          `how far the journal went is unknown, because the row of signer_lease was deleted: run .*reconcile-restore --write.* has written line ${lines} last, with the hash ${hash}\\)$`,
        ),
      ),
    }),
  ]);
  await expect(first.append(aLine())).rejects.toThrow(/was deleted/);
});

test.each(PUT_BACK)(
  'a row that is put back %s admits no backup, until its journal is completed',
  async (_, putBack) => {
    const first = await started(aFile());
    await first.append(aLine());
    const backup = copyOf(first.file);
    await first.append(aLine());
    await first.close();
    await db('signer_lease').delete();
    await putBack();
    await expect(started(backup)).rejects.toThrow(/was deleted: run `.* reconcile-restore --write`/);

    const completed = await started(backup, { isToBeCompleted: true });
    await completed.beginCompleting();
    await completed.append(aLine());
    await completed.publish();
    await completed.close();
    await (await started(backup)).assertSignable();
  },
);

test.each([
  ['gives it to somebody else', { holder: 'somebody', fencing: 9n }],
  [
    'moves the journal back to a line that it does not have',
    { journal_lines: 1n, journal_hash: 'f'.repeat(64) },
  ],
  ['moves the journal on', { journal_lines: 1_000_000n }],
])('an owner of the tables who %s ends the signer, and has nothing signed', async (_, row) => {
  const lost: Error[] = [];
  const first = await started(aFile(), { onLost: (error) => lost.push(error) });
  await first.append(aLine());
  await first.assertSignable();
  await db('signer_lease').update(row);
  await expect(first.append(aLine()).then(() => first.assertSignable())).rejects.toThrow();
  await until('it is lost', async () => lost.length > 0);
});

test('a start waits for a database that does not answer, and takes the lease whose answer was lost', async () => {
  const row = signerLease(signerDb);
  const lost = new Error('Connection terminated unexpectedly');
  let reads = 0;
  let takes = 0;
  const leaseRow: typeof row = {
    ...row,
    async read() {
      reads += 1;
      if (reads === 1) throw lost;
      return row.read();
    },
    async take(...args) {
      const isTaken = await row.take(...args);
      takes += 1;
      if (takes === 1) throw lost;
      return isTaken;
    },
  };
  const journal = await started(aFile(), { leaseRow, waitMs: 15_000 });
  expect([reads, takes]).toEqual([3, 2]);
  await journal.append(aLine());
  const unavailable = { ...row, read: () => Promise.reject(lost) };
  await expect(started(aFile(), { leaseRow: unavailable })).rejects.toThrow(lost);
});

test('a signer records what it was started with, and the service can compare it', async () => {
  const settings: SharedSettings = {
    ...{ proposalLifetimeMs: 3_600_000, maxGas: '5000000', signerNetworkId: 1, networks: [] },
    payloadKeys: null,
  };
  expect(await readSignerSettings(serviceDb)).toBeUndefined();
  const hold = (await started(aFile())).hold();
  if (!hold) throw new Error('the journal has no lease in the database');
  await recordSignerSettings(signerDb, hold, settings);
  expect(await readSignerSettings(serviceDb)).toEqual({ settings, host: hostname() });
  // One that has lost the lease says nothing about the next one.
  await recordSignerSettings(signerDb, { ...hold, fencing: hold.fencing - 1n }, { ...settings, maxGas: '1' });
  expect(await readSignerSettings(serviceDb)).toEqual({ settings, host: hostname() });
});
