import { read, type Shown } from '../support/api';
import type { TestOrganization } from '../support/service';
import { until } from '../support/until';
import {
  auditOf,
  expectSoundAudit,
  proposeName,
  startWorld,
  storeAccount,
  vote,
  type World,
  workflowOf,
} from './world';

let world: World;
let org: TestOrganization;
/** One of the two signatures that it needs. */
let asking: Shown;
/** Both of them, and nobody executes it. */
let approved: Shown;

beforeAll(async () => {
  world = await startWorld({ env: { PROPOSAL_LIFETIME: '30s' } });
  org = await world.createOrganization();
  const [one, two] = await Promise.all([storeAccount(world.db, org), storeAccount(world.db, org)]);
  [asking, approved] = await Promise.all([
    proposeName(world, org, one, 'Asking'),
    proposeName(world, org, two, 'Approved'),
  ]);
  await vote(world, org, asking, org.alice);
  await vote(world, org, approved, org.alice);
  await vote(world, org, approved, org.bob);
  for (const proposal of [asking, approved]) {
    await until(`the expiry of ${proposal.id} is recorded`, async () =>
      (await auditOf(world.db, proposal)).includes('proposal.expired'),
    );
  }
});
afterAll(async () => {
  if (org) await expectSoundAudit(world.db, org);
  await world?.stop();
});

it('people are reminded of missing signatures when half, and when nine tenths of the time are over', async () => {
  expect(await auditOf(world.db, asking)).toEqual([
    ...['proposal.created', 'proposal.signed', 'proposal.reminded', 'proposal.reminded', 'proposal.expired'],
  ]);
  const feed: Shown[] = await read(world.http, org.readKey, '/api/v1/events?types=proposal.reminded');
  const { createdAt, expiresAt } = asking;
  const lifetimeMs = Date.parse(expiresAt) - Date.parse(createdAt);
  const shares = feed.map(({ occurredAt, ...event }) => {
    expect(event).toMatchObject({
      resource: { type: 'proposal', id: asking.id },
      actor: { type: 'system' },
      data: { resourceType: 'accounts', action: 'update', expiresAt },
    });
    return [event.data.reminder, (Date.parse(occurredAt) - Date.parse(createdAt)) / lifetimeMs];
  });
  expect(shares.map(([reminder]) => reminder)).toEqual(['half', 'nineTenths']);
  expect(shares[0]?.[1]).toBeGreaterThanOrEqual(0.5);
  expect(shares[1]?.[1]).toBeGreaterThanOrEqual(0.9);
  for (const [, share] of shares) expect(share).toBeLessThan(1);
});

it('nobody is reminded of what has its signatures', async () => {
  expect(await auditOf(world.db, approved)).toEqual([
    ...['proposal.created', 'proposal.signed', 'proposal.signed', 'proposal.expired'],
  ]);
});

it('a timer says what it waits for', async () => {
  const { events } = await workflowOf(world, org, approved).fetchHistory();
  const texts = (events ?? []).flatMap(({ timerStartedEventAttributes: timer, userMetadata }) =>
    timer ? [Buffer.from(userMetadata?.summary?.data ?? []).toString()] : [],
  );
  expect(texts.length).toBe(3);
  expect(texts[0]).toContain('Reminds at ');
  expect(texts.at(-1)).toContain(`Expires at ${approved.expiresAt}`);
});
