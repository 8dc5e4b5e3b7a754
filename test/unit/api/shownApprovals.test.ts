import { createShownApprovals } from '../../../src/api/shownApprovals';
import { basisText } from '../../../src/db/approvalLocks';
import { isExpired } from '../../../src/domain/approval';
import { aProposal } from '../../support/builders';

const MINUTE_MS = 60_000;

const aStoredProposal = () => {
  const record = aProposal().build();
  return { ...record, updatedAt: record.createdAt };
};

/** One proposal that is stored, shown as its summary. */
function setUp({ compare = false } = {}) {
  const stored = {
    record: aStoredProposal(),
    sequence: 1n,
    time: new Date(aStoredProposal().createdAt.getTime() + MINUTE_MS),
    isSteady: true,
  };
  const count = { bases: 0, loads: 0 };
  const readBases = async () => {
    count.bases += 1;
    const { record, sequence, time } = stored;
    return new Map([[record.id, basisText({ record, sequence }, isExpired(record, time))]]);
  };
  const show = createShownApprovals(readBases, { compare });
  const read = () =>
    show('the proposal', {
      load: async () => {
        count.loads += 1;
        const { record, sequence, time } = stored;
        return { record, sequence, now: { time } };
      },
      show: ({ record }) => record.summary,
      isSteady: () => stored.isSteady,
    });
  const change = (changes: Partial<typeof stored.record>) => {
    stored.record = { ...stored.record, ...changes };
  };
  return { stored, count, read, change };
}

test('an approval that is as it was is read in one short statement, however many ask', async () => {
  const { stored, count, read } = setUp();
  const text = JSON.stringify({ data: stored.record.summary });
  expect(await read()).toBe(text);
  expect(await Promise.all([read(), read(), read()])).toEqual([text, text, text]);
  expect(count).toEqual({ bases: 1, loads: 1 });
});

test.each<[string, (world: ReturnType<typeof setUp>) => void]>([
  ['version', ({ stored, change }) => change({ version: stored.record.version + 1 })],
  ['version, given again after a failover,', ({ change }) => change({ updatedAt: new Date() })],
  ['sequence of decisions', ({ stored }) => Object.assign(stored, { sequence: 2n })],
  [
    'expiry',
    ({ stored }) => Object.assign(stored, { time: new Date(stored.record.expiresAt.getTime() + 1) }),
  ],
])('an approval whose %s is another is shown as it is now, and kept again', async (_, alter) => {
  const world = setUp();
  const { count, read, change } = world;
  await read();
  change({ summary: 'What it is now' });
  alter(world);
  expect(await read()).toBe('{"data":"What it is now"}');
  expect(await read()).toBe('{"data":"What it is now"}');
  expect(count.loads).toBe(2);
});

test('what was read before a change is not kept as what is after it', async () => {
  const { stored, read, change } = setUp();
  await read();
  change({ version: 2 });
  const before = read();
  change({ version: 3, summary: 'Later' });
  await before;
  expect(await read()).toBe('{"data":"Later"}');
  expect(stored.record.version).toBe(3);
});

test.each<[string, (world: ReturnType<typeof setUp>) => void]>([
  ['is executed', ({ stored }) => Object.assign(stored, { isSteady: false })],
  ['is long', ({ change }) => change({ summary: 'x'.repeat(20_000) })],
])('an approval that %s is made anew each time', async (_, alter) => {
  const world = setUp();
  await world.read();
  alter(world);
  world.change({ version: 2 });
  await world.read();
  await world.read();
  expect(world.count.loads).toBe(3);
});

test('of more approvals than are kept, the oldest is made anew', async () => {
  const record = aStoredProposal();
  let loads = 0;
  const bases = new Map([[record.id, basisText({ record, sequence: 1n }, false)]]);
  const show = createShownApprovals(async () => bases, { compare: false });
  const read = (key: string) =>
    show(key, {
      load: async () => {
        loads += 1;
        return { record, sequence: 1n, now: { time: record.createdAt } };
      },
      show: () => key,
      isSteady: () => true,
    });
  for (let i = 0; i < 2_100; i += 1) expect(await read(`${i}`)).toBe(`{"data":"${i}"}`);
  await read('2099');
  expect(loads).toBe(2_100);
  await read('0');
  expect(loads).toBe(2_101);
});

test('a text that is not what the approval is, though nothing says so, is found where texts are compared', async () => {
  const { read, change } = setUp({ compare: true });
  await read();
  expect(await read()).toContain('Create the account');
  change({ summary: 'Changed without a version' });
  await expect(read()).rejects.toThrow('Changed without a version');
});
