import { insertApproval } from '../../src/db/approvals';
import { pageOfAudit } from '../../src/db/audit';
import { createDatabase, type Db } from '../../src/db/database';
import { insertProposal, type ProposalFilter, pageOfProposals } from '../../src/db/proposals';
import { anId } from '../support/builders';
import { makeOrganization, type TestOrganization } from '../support/service';
import { createTestDatabase } from '../support/stack';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let service: Db;
let owner: Db;
let org: TestOrganization;

beforeAll(async () => {
  database = await createTestDatabase();
  owner = createDatabase(database.url);
  service = createDatabase(database.serviceUrl, { poolMax: 2 });
});
beforeEach(async () => {
  org = await makeOrganization(owner);
});
afterAll(async () => {
  await Promise.all([owner, service].map((db) => db?.destroy()));
  await database?.drop();
});

const EMPTY = '{"text":""}'.length + 1;

async function store(position: bigint, bytes = 100, resourceType: 'admins' | 'policies' = 'policies') {
  const id = anId('prop');
  await insertApproval(owner, 'proposal', {
    ...{ id, organizationId: org.id, summary: '', mentions: [], position, createdBy: null },
    expiresAt: new Date(Date.now() + 60_000),
  });
  await insertProposal(owner, {
    ...{ id, organizationId: org.id, summary: '', resourceType, action: 'update' as const },
    data: { text: 'x'.repeat(bytes - EMPTY) },
    mentions: [],
  });
  return id;
}

async function pageOf(over: Partial<ProposalFilter> = {}, most = 1_000_000) {
  const { snapshots, hasMore } = await pageOfProposals(
    service,
    { organizationId: org.id, limit: 20, ...over },
    most,
  );
  return { ids: snapshots.map(({ record }) => record.id), hasMore };
}

describe('a page of proposals', () => {
  it('is newest first, and says whether there are more', async () => {
    const [first, second, third] = [await store(1n), await store(2n), await store(3n)];
    expect(await pageOf()).toEqual({ ids: [third, second, first], hasMore: false });
    expect(await pageOf({ limit: 3 })).toEqual({ ids: [third, second, first], hasMore: false });
    expect(await pageOf({ limit: 2 })).toEqual({ ids: [third, second], hasMore: true });
    expect(await pageOf({ before: 3n })).toEqual({ ids: [second, first], hasMore: false });
    expect(await pageOf({ before: 1n })).toEqual({ ids: [], hasMore: false });
  });

  it('ends before the data on it is too large, and has one at least', async () => {
    const [first, second, third] = [await store(1n, 500), await store(2n, 300), await store(3n, 300)];
    expect(await pageOf({}, 1_100)).toEqual({ ids: [third, second, first], hasMore: false });
    expect(await pageOf({}, 1_099)).toEqual({ ids: [third, second], hasMore: true });
    expect(await pageOf({}, 10)).toEqual({ ids: [third], hasMore: true });
    expect(await pageOf({ before: 2n }, 10)).toEqual({ ids: [first], hasMore: false });
  });

  it('is read in one statement, with the admins and the time of its moment', async () => {
    const id = await store(1n, 100, 'admins');
    const statements: string[] = [];
    const listen = ({ sql }: { sql: string }) => statements.push(sql);
    service.on('query', listen);
    const { snapshots } = await pageOfProposals(
      service,
      { organizationId: org.id, resourceType: 'admins', status: 'open', limit: 20 },
      1_000,
    );
    service.off('query', listen);
    expect(statements).toHaveLength(1);
    expect(snapshots).toMatchObject([
      {
        record: { id },
        now: { admins: { threshold: 2 }, time: expect.any(Date) },
        domainSalt: expect.any(String),
      },
    ]);
    expect(snapshots[0]?.now.admins.members).toHaveLength(4);
  });
});

it('a page of the audit log ends before its details are too large, and has one at least', async () => {
  const all = await pageOfAudit(service, { organizationId: org.id, limit: 100 }, 1_000_000);
  expect(all.entries.length).toBeGreaterThan(2);
  expect(all.hasMore).toBe(false);
  const positions = all.entries.map(({ position }) => position);
  expect(await pageOfAudit(service, { organizationId: org.id, limit: 2 }, 1_000_000)).toEqual({
    entries: all.entries.slice(0, 2),
    hasMore: true,
  });
  const one = await pageOfAudit(service, { organizationId: org.id, limit: 100 }, 1);
  expect([one.entries.map(({ position }) => position), one.hasMore]).toEqual([positions.slice(0, 1), true]);
});
