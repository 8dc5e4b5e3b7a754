import { createDatabase, type Db, type Tx } from '../../src/db/database';
import { findLastPayment, findPaidAddresses } from '../../src/db/recipients';
import { anAddress, anId } from '../support/builders';
import { makeOrganization, type TestOrganization } from '../support/service';
import { createTestDatabase } from '../support/stack';
import { storeAccount } from '../support/storedTransactions';

const PAYMENTS = 100_000;
/** Of which so many go to one recipient, and the others to many. */
const TO_ONE = 60_000;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let owner: Db;
let org: TestOrganization;

beforeAll(async () => {
  database = await createTestDatabase();
  owner = createDatabase(database.url);
  org = await makeOrganization(owner);
});
afterAll(async () => {
  await owner?.destroy();
  await database?.drop();
});

/** The plan of the last statement. */
async function planOf(tx: Tx, read: () => Promise<unknown>): Promise<string> {
  const statements: { sql: string; bindings: never[] }[] = [];
  tx.on('query', (query) => statements.push(query));
  await read();
  const { sql = '', bindings = [] } = statements.at(-1) ?? {};
  const client = tx.client;
  const connection = await client.acquireConnection();
  const { response } = await client.query(connection, { sql: `EXPLAIN (ANALYZE, BUFFERS) ${sql}`, bindings });
  return response.rows.map((row: { 'QUERY PLAN': string }) => row['QUERY PLAN']).join('\n');
}

it(`finds a recipient and its look-alikes among ${PAYMENTS} payments by an index`, async () => {
  const policyId = anId('pol');
  await owner('policies').insert({
    id: policyId,
    organization_id: org.id,
    name: 'P',
    definition: '{}',
    position: 0n,
  });
  const account = await storeAccount(owner, org.id);
  const popular = anAddress();
  const tx = await owner.transaction();
  try {
    // So much is made at once by no process.
    await tx.raw('SET LOCAL statement_timeout = 0');
    for (let first = 1; first <= PAYMENTS; first += 2_000) {
      await tx.raw(
        `INSERT INTO policy_usage (organization_id, policy_id, transaction_id, network_id, token_address, amount,
          initiator_id, account_id, destination, status, block_at, decided_at)
        SELECT ?, ?, 'txn_' || n, 1, '0x', 1, ?, ?,
          CASE WHEN n <= ? THEN ? ELSE '0x' || left(repeat(md5(n::text), 2), 40) END,
          'committed', now() - n * interval '1 minute', now() FROM generate_series(?::integer, ?::integer) AS n`,
        [org.id, policyId, org.dave.id, account.id, TO_ONE, popular, first, first + 1_999],
      );
    }
    await tx.raw('ANALYZE policy_usage');
    const of = (address: string) => ({ organizationId: org.id, address, addresses: [address] });
    const timed = async <T>(read: () => Promise<T>): Promise<T> => {
      const started = performance.now();
      const found = await read();
      const ms = performance.now() - started;
      console.info(`${ms.toFixed(1)} ms`);
      return found;
    };
    const [most] = await timed(() => findPaidAddresses(tx, of(popular), null));
    expect([most?.address, most?.count]).toEqual([popular, TO_ONE]);
    expect(await timed(() => findLastPayment(tx, of(popular), null))).toBe('txn_1');
    const rare = await tx('policy_usage')
      .where({ transaction_id: `txn_${PAYMENTS}` })
      .first('destination');
    expect(await timed(() => findPaidAddresses(tx, of(rare?.destination ?? ''), null))).toMatchObject([
      { count: 1 },
    ]);
    const unknown = anAddress();
    expect(await timed(() => findPaidAddresses(tx, of(unknown), null))).toEqual([]);
    for (const address of [rare?.destination ?? '', unknown]) {
      const plan = await planOf(tx, () => findPaidAddresses(tx, of(address), null));
      expect(plan).toContain('policy_usage_recipient');
    }
    console.info(`${await planOf(tx, () => findPaidAddresses(tx, of(popular), null))}`);
    console.info(`${await planOf(tx, () => findLastPayment(tx, of(popular), null))}`);
  } finally {
    await tx.rollback();
  }
});
