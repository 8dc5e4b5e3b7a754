import { randomUUID } from 'node:crypto';
import { createDatabase, type Db } from '../../src/db/database';
import { endHeartbeats, forgetHeartbeats, noteHeartbeat, readLastSeen } from '../../src/db/lastSeen';
import { LEASE_HOLD_MS } from '../../src/domain/signerLease';
import { createTestDatabase, type TestDatabase } from '../support/stack';

let database: TestDatabase & { drop(): Promise<void> };
let db: Db;
let owner: Db;

beforeAll(async () => {
  database = await createTestDatabase();
  db = createDatabase(database.serviceUrl, { poolMax: 1 });
  owner = createDatabase(database.url, { poolMax: 1 });
});
beforeEach(async () => {
  await owner('heartbeats').delete();
  await owner('signer_lease').update({ holder: null, held_until: null });
});
afterAll(async () => {
  await Promise.all([db.destroy(), owner.destroy()]);
  await database.drop();
});

const age = (process: string, seconds: number) =>
  owner('heartbeats')
    .where({ process })
    .update({ seen_at: owner.raw('now() - make_interval(secs => ?)', [seconds]) });

async function queue(name: string) {
  const { at, queues } = await readLastSeen(db);
  const seen = queues.get(name);
  return (
    seen && {
      isUp: seen.isUp,
      ago: Math.round((at.getTime() - (seen.lastSeen?.getTime() ?? 0)) / 1_000),
    }
  );
}

describe('a task queue', () => {
  it('is up while one of its processes was seen a moment ago', async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    await noteHeartbeat(db, one, ['q', 'q-1']);
    await noteHeartbeat(db, two, ['q']);
    await age(one, 60);
    expect([await queue('q'), await queue('q-1'), await queue('q-2')]).toEqual([
      { isUp: true, ago: 0 },
      { isUp: false, ago: 60 },
      undefined,
    ]);
  });

  it('is silent as soon as its last process has ended in order, and up again when that polls', async () => {
    const one = randomUUID();
    await noteHeartbeat(db, one, ['q']);
    await endHeartbeats(db, one);
    expect(await queue('q')).toEqual({ isUp: false, ago: 0 });
    await noteHeartbeat(db, one, ['q']);
    expect(await queue('q')).toEqual({ isUp: true, ago: 0 });
  });

  it('is forgotten after a week', async () => {
    const one = randomUUID();
    await noteHeartbeat(db, one, ['q']);
    await age(one, 8 * 86_400);
    await forgetHeartbeats(db);
    expect(await queue('q')).toBeUndefined();
  });
});

describe('the signer', () => {
  const hold = (holder: string | null, seconds: number) =>
    owner('signer_lease').update({
      holder,
      held_until: owner.raw('now() + make_interval(secs => ?)', [seconds]),
    });
  const seen = async () => {
    const { at, signer } = await readLastSeen(db);
    const ago = signer.lastSeen && Math.round((at.getTime() - signer.lastSeen.getTime()) / 1_000);
    return { isUp: signer.isUp, ago };
  };

  it('was seen when it renewed its lease, released it, or never', async () => {
    expect(await seen()).toEqual({ isUp: false, ago: null });
    await hold('one', LEASE_HOLD_MS / 1_000 - 3);
    expect(await seen()).toEqual({ isUp: true, ago: 3 });
    await hold('one', -10);
    expect(await seen()).toEqual({ isUp: false, ago: 30 });
    await hold(null, -10);
    expect(await seen()).toEqual({ isUp: false, ago: 10 });
  });
});
