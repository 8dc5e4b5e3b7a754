/** @deep */

import { insertApproval } from '../../src/db/approvals';
import { createDatabase, type Db } from '../../src/db/database';
import { insertProposal, pageOfProposals } from '../../src/db/proposals';
import { pageOfTransactions, type TransactionFilter } from '../../src/db/transactionLists';
import { anAddress, anId } from '../support/builders';
import { makeOrganization, type TestOrganization } from '../support/service';
import { createTestDatabase } from '../support/stack';
import { storeAccount, storeTransaction } from '../support/storedTransactions';
import { DEEP } from '../support/suite';
import { aPolicy, NETWORK_ID } from '../support/transactions';

/** Requests of the organization. */
const MANY = DEEP ? 100_000 : 20_000;
/** Rows that a page of 20 may read of a table or of an index, whatever it is filtered by. */
const MOST_READ = 1_000;
const FIRST = Date.parse('2024-01-01T00:00:00.000Z');
const STEP_MS = 300_000;
const AT_ONCE = 500;
const LIMIT = 20;
/** Of the oldest alone. */
const FORMER_NETWORK = 10;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let owner: Db;
let service: Db;
let org: TestOrganization;
/** Of the account, policy and initiator of nearly all, and of the few that are oldest. */
let usual: Awaited<ReturnType<typeof people>>;
let former: Awaited<ReturnType<typeof people>>;
const supplier = anAddress();

async function people(initiatorId: string, name: string) {
  const { id: accountId } = await storeAccount(owner, org.id, { name });
  const { id: policyId, ...definition } = aPolicy();
  await owner('policies').insert({
    id: policyId,
    organization_id: org.id,
    name,
    definition: JSON.stringify({ ...definition, name }),
    position: 0n,
  });
  return { organizationId: org.id, accountId, policyId, initiatorId };
}

const timeOf = (n: number) => new Date(FIRST + n * STEP_MS);

/** Stores completed transfers to many recipients, as the service stores them. */
async function storeMany(first: number, last: number): Promise<void> {
  const { accountId, policyId, initiatorId } = usual;
  await owner.raw(
    `INSERT INTO approvals (id, subject, organization_id, summary, created_at, expires_at, position, execution_status, closed_at)
      SELECT 'txn_many' || n, 'transaction', ?, 'Send', at, at, n, 'completed', at
      FROM (SELECT n, ?::timestamptz + n * interval '5 minutes' AS at FROM generate_series(?::integer, ?::integer) n) AS one`,
    [org.id, new Date(FIRST), first, last],
  );
  await owner.raw(
    `INSERT INTO transactions (id, account_id, network_id, policy_id, initiator_id, description, type, to_address, value,
        calldata, content, position, terms, organization_id, external_id)
      SELECT 'txn_many' || n, ?, ?, ?, ?, 'Salary', 'TOKEN_TRANSFER', ?, 1, '0x', '{}', n,
        array_to_tsvector(ARRAY[?::text || '/salary', ? || '/to:' || n % 500, ? || '/account:' || ?]), ?, 'salary-' || n
      FROM generate_series(?::integer, ?::integer) n`,
    [
      ...[accountId, NETWORK_ID, policyId, initiatorId, anAddress()],
      ...[org.id.slice(-10), org.id.slice(-10), org.id.slice(-10), accountId, org.id, first, last],
    ],
  );
}

/** The hundred oldest: some failed, some expired, all by those who are not there any more. */
async function storeOldest(): Promise<void> {
  for (let n = 1; n <= 100; n += 1) {
    const id = await storeTransaction(owner, former, {
      position: BigInt(n),
      description: `Lease ${n}`,
      to: supplier,
      type: n % 2 === 0 ? 'TOKEN_TRANSFER' : 'CONTRACT_INTERACTION',
      content: n % 2 === 0 ? { destination: supplier, asset: { id: '1:0xToken' } } : { toAddress: supplier },
      networkId: FORMER_NETWORK,
      references: { externalId: `lease-${n}`, metadata: {}, tags: ['Lease'] },
    });
    const status = n % 10 === 0 ? 'failed' : n % 10 === 1 ? null : 'completed';
    await owner('approvals')
      .where({ id })
      .update({
        created_at: timeOf(n),
        expires_at: timeOf(n),
        closed_at: timeOf(n),
        execution_status: status,
      });
  }
}

beforeAll(async () => {
  database = await createTestDatabase();
  owner = createDatabase(database.url);
  service = createDatabase(database.serviceUrl, { poolMax: 2 });
  org = await makeOrganization(owner);
  usual = await people(org.alice.id, 'Payroll');
  former = await people(org.carol.id, 'Branch in Ghent');
  await storeOldest();
  // A statement that takes long is ended.
  for (let n = 101; n <= MANY; n += AT_ONCE) await storeMany(n, Math.min(MANY, n + AT_ONCE - 1));
  for (const table of ['approvals', 'transactions', 'proposals']) await owner.raw(`ANALYZE ${table}`);
});
afterAll(async () => {
  await Promise.all([owner, service].map((db) => db?.destroy()));
  await database?.drop();
});

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly Plan[];
}

/** The rows that each scan has read. */
function readBy(plan: Plan): readonly (readonly [scan: string, rows: number])[] {
  const { 'Node Type': type, 'Relation Name': table = '', Plans = [] } = plan;
  const kept = plan['Actual Rows'];
  const removed = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0);
  const own = type.includes('Scan')
    ? [[`${type} ${table}`, (kept + removed) * plan['Actual Loops']] as const]
    : [];
  return [...own, ...Plans.flatMap(readBy)];
}

/** Does something with the database, and returns the one statement that did it, explained while it is executed. */
async function explained(work: () => Promise<unknown>): Promise<Plan> {
  const statements: { sql: string; bindings: readonly never[] }[] = [];
  const listen = (query: (typeof statements)[number]) => statements.push(query);
  service.on('query', listen);
  await work();
  service.off('query', listen);
  expect(statements).toHaveLength(1);
  const [{ sql, bindings } = { sql: '', bindings: [] }] = statements;
  const client = await owner.client.acquireConnection();
  try {
    const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, [...bindings]);
    return rows[0]['QUERY PLAN'][0].Plan;
  } finally {
    await owner.client.releaseConnection(client);
  }
}

const NONE = {};
const filters = (): readonly (readonly [
  name: string,
  filter: Partial<TransactionFilter>,
  found: number,
])[] => [
  ['nothing', NONE, LIMIT],
  ['a former account', { accountId: former.accountId }, LIMIT],
  ['a former policy', { policyId: former.policyId }, LIMIT],
  ['a former initiator', { initiatorId: former.initiatorId }, LIMIT],
  ['a former account and what it did', { accountId: former.accountId, type: 'CONTRACT_INTERACTION' }, LIMIT],
  ['the account of nearly all', { accountId: usual.accountId, status: 'done' }, LIMIT],
  ['what failed', { status: 'failed' }, 10],
  ['what expired', { status: 'expired' }, 10],
  ['what is open', { status: 'queued' }, 0],
  ['what is done', { status: 'done' }, LIMIT],
  ['a recipient', { recipient: supplier }, LIMIT],
  ['a recipient and a former account', { recipient: supplier, accountId: former.accountId }, LIMIT],
  ['an asset', { assetId: '1:0xToken' }, LIMIT],
  ['a former network', { networkId: FORMER_NETWORK }, LIMIT],
  ['the network of nearly all', { networkId: NETWORK_ID }, LIMIT],
  ['an external id', { externalId: 'lease-7' }, 1],
  ['an external id that nothing has', { externalId: 'lease' }, 0],
  ['a tag', { tag: 'lease' }, LIMIT],
  ['who could sign', { maySign: former.initiatorId }, 0],
  ['a word', { text: 'lease' }, LIMIT],
  ['a word and a number', { text: 'leas 42' }, 1],
  ['the name of an account', { text: 'ghent' }, LIMIT],
  ['a word that nothing has', { text: 'nothing' }, 0],
  ['a word that nearly all have', { text: 'salary' }, LIMIT],
  ['a word that nearly all have, further on', { text: 'salary', before: 10_000n }, LIMIT],
  ['a word that nearly all have, of one account', { text: 'salary', accountId: usual.accountId }, LIMIT],
  ['a word that nearly all have, of what is done', { text: 'salary', status: 'done' }, LIMIT],
  ['a day long ago', { from: timeOf(200), to: timeOf(210) }, 10],
  ['a day long ago, of one account', { from: timeOf(200), to: timeOf(210), accountId: usual.accountId }, 10],
  ['a time before all', { to: timeOf(0) }, 0],
];

it('a page of transactions reads few rows in one statement, whatever it is filtered by', async () => {
  const read: [string, number, string][] = [];
  for (const [name, filter, count] of filters()) {
    const page = { organizationId: org.id, limit: LIMIT, ...filter };
    const { snapshots } = await pageOfTransactions(service, page, 1_000_000);
    const positions = snapshots.map(({ record }) => Number(record.position));
    expect([name, snapshots.length, positions]).toEqual([name, count, [...positions].sort((a, b) => b - a)]);
    const scans = readBy(await explained(() => pageOfTransactions(service, page, 1_000_000)));
    const [scan, rows] = scans.reduce((most, one) => (one[1] > most[1] ? one : most));
    read.push([name, rows, scan]);
  }
  expect(read.filter(([, rows]) => rows > MOST_READ)).toEqual([]);
});

it('pages of a filtered list follow each other without a gap', async () => {
  const page = { organizationId: org.id, limit: 30, accountId: former.accountId };
  const found: bigint[] = [];
  for (let before: bigint | undefined; ; before = found.at(-1)) {
    const at = before === undefined ? {} : { before };
    const { snapshots, hasMore } = await pageOfTransactions(service, { ...page, ...at }, 1_000_000);
    found.push(...snapshots.map(({ record }) => record.position));
    if (!hasMore) break;
  }
  expect(found).toEqual(Array.from({ length: 100 }, (_, i) => BigInt(100 - i)));
});

it('a page of proposals is found by words, period and stage', async () => {
  const stored: string[] = [];
  for (const [n, summary] of [
    'Add policy "Rent"',
    'Add policy "Rent abroad"',
    'Add member "Eve"',
  ].entries()) {
    const id = anId('prop');
    const about = { id, organizationId: org.id, summary };
    const expiresAt = new Date(Date.now() + 60_000);
    await insertApproval(owner, 'proposal', {
      ...about,
      mentions: [],
      position: BigInt(n),
      createdBy: null,
      expiresAt,
    });
    const named = { mentions: [`policy:${usual.policyId}`, 'network:31337'] };
    await insertProposal(owner, { ...about, ...named, resourceType: 'policies', action: 'create', data: {} });
    await owner('approvals')
      .where({ id })
      .update({ created_at: timeOf(n) });
    stored.push(id);
  }
  const [rent = '', abroad = '', eve = ''] = stored;
  await owner('approvals')
    .where({ id: rent })
    .update({ execution_status: 'completed', closed_at: new Date() });
  await owner('approvals')
    .where({ id: abroad })
    .update({ expires_at: timeOf(9) });
  const ids = async (filter: object) => {
    const page = { organizationId: org.id, limit: LIMIT, ...filter };
    return (await pageOfProposals(service, page, 1_000_000)).snapshots.map(({ record }) => record.id);
  };
  expect(await ids({ names: [`policy:${usual.policyId}`, 'network:31337'] })).toEqual(stored.toReversed());
  expect(await ids({ names: [`policy:${former.policyId}`] })).toEqual([]);
  expect(await ids({ text: 'rent' })).toEqual([abroad, rent]);
  expect(await ids({ text: eve })).toEqual([eve]);
  expect(await ids({ from: timeOf(1), to: timeOf(2) })).toEqual([abroad]);
  expect(await ids({ status: 'done' })).toEqual([rent]);
  expect(await ids({ status: 'expired' })).toEqual([abroad]);
  expect(await ids({ status: 'failed' })).toEqual([]);
});
