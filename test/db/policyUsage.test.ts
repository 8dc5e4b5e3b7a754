import fc from 'fast-check';
import { createDatabase, type Db, databaseNow, type Tx } from '../../src/db/database';
import { insertPolicies } from '../../src/db/policies';
import { readUsage } from '../../src/db/policyUsage';
import { requireRow } from '../../src/db/rows';
import { NATIVE_CURRENCY } from '../../src/domain/policy';
import type { UsageWindow } from '../../src/domain/policyEngine';
import { anAddress, anId } from '../support/builders';
import { makeOrganization, type TestOrganization } from '../support/service';
import { createTestDatabase } from '../support/stack';
import { storeAccount } from '../support/storedTransactions';
import { aPolicy, type PastExecution, usageIn } from '../support/transactions';

const HOUR_MS = 3_600_000;
const POLICIES = [anId('pol'), anId('pol')];
const ACCOUNTS = [anId('acc'), anId('acc')];
const TOKENS = [NATIVE_CURRENCY, anAddress()];
const DESTINATIONS = [anAddress(), anAddress()];
const MAX = 2n ** 256n - 1n;
const LONG_AGO = new Date('2020-01-01T00:00:00.000Z');

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let owner: Db;
let service: Db;
let org: TestOrganization;

beforeAll(async () => {
  database = await createTestDatabase();
  owner = createDatabase(database.url);
  service = createDatabase(database.serviceUrl, { poolMax: 2 });
  org = await makeOrganization(owner);
  for (const id of ACCOUNTS) await storeAccount(owner, org.id, { id });
  await owner.transaction((tx) =>
    insertPolicies(
      tx,
      org.id,
      POLICIES.map((id) => aPolicy({ id })),
    ),
  );
});
afterAll(async () => {
  await Promise.all([owner, service].map((db) => db?.destroy()));
  await database?.drop();
});

/** Works in a transaction that leaves nothing; its time stands still. */
async function undone(work: (tx: Tx, nowMs: number) => Promise<void>, db = service): Promise<void> {
  const tx = await db.transaction();
  try {
    await work(tx, (await databaseNow(tx)).getTime());
  } finally {
    await tx.rollback();
  }
}

const STATUS = { executing: 'reserved', executed: 'committed', failed: 'released' } as const;

async function insert(tx: Tx, past: readonly PastExecution[]): Promise<void> {
  if (past.length === 0) return;
  await tx('policy_usage').insert(
    past.map((entry) => ({
      organization_id: org.id,
      policy_id: entry.policyId,
      transaction_id: anId('txn'),
      network_id: entry.networkId,
      token_address: entry.tokenAddress,
      amount: String(entry.amount),
      initiator_id: entry.initiatorId,
      account_id: entry.accountId,
      destination: entry.destination,
      status: STATUS[entry.state],
      reserved_at: LONG_AGO,
      block_at: entry.blockTimeMs === null ? null : new Date(entry.blockTimeMs),
      decided_at: entry.state === 'executing' ? null : new Date(),
    })),
  );
}

function anExecution(change: Partial<PastExecution> = {}): PastExecution {
  return {
    policyId: POLICIES[0] ?? '',
    networkId: 1,
    tokenAddress: NATIVE_CURRENCY,
    amount: 5n,
    initiatorId: org.alice.id,
    accountId: ACCOUNTS[0] ?? '',
    destination: DESTINATIONS[0] ?? '',
    state: 'executing',
    blockTimeMs: null,
    ...change,
  };
}

function aWindow(change: Partial<UsageWindow> = {}): UsageWindow {
  return {
    policyId: POLICIES[0] ?? '',
    hours: 1,
    asset: null,
    initiatorId: null,
    accountId: null,
    destination: null,
    ...change,
  };
}

describe('the usage of policies', () => {
  it('is zero without executions', async () => {
    expect(await readUsage(service, [])).toEqual([]);
    expect(await readUsage(service, [aWindow()])).toEqual([
      { amount: 0n, executions: 0, oldestBlockAt: null, at: expect.any(Date) },
    ]);
  });

  it.each([
    ['the instant that ends its window', -HOUR_MS, true],
    ['a millisecond later', -HOUR_MS - 1, false],
    ['a millisecond before', -HOUR_MS + 1, true],
    ['a block with a clock ahead of ours', 60_000, true],
  ])('of a block counts until %s', (_, offMs, counts) =>
    undone(async (tx, nowMs) => {
      const blockTimeMs = nowMs + offMs;
      await insert(tx, [anExecution({ state: 'executed', blockTimeMs })]);
      const [usage] = await readUsage(tx, [aWindow()]);
      expect(usage).toEqual({
        amount: counts ? 5n : 0n,
        executions: counts ? 1 : 0,
        oldestBlockAt: counts ? new Date(blockTimeMs) : null,
        at: new Date(nowMs),
      });
    }),
  );

  it('counts executions in progress of any age, and no failed ones', () =>
    undone(async (tx) => {
      await insert(tx, [anExecution(), anExecution({ state: 'failed', amount: 7n })]);
      expect(await readUsage(tx, [aWindow()])).toMatchObject([{ amount: 5n, executions: 1 }]);
    }));

  it('is exact for the largest amounts', () =>
    undone(async (tx) => {
      await insert(tx, [
        anExecution({ amount: MAX }),
        anExecution({ amount: MAX }),
        anExecution({ amount: 1n }),
      ]);
      expect(await readUsage(tx, [aWindow()])).toMatchObject([{ amount: 2n * MAX + 1n, executions: 3 }]);
    }));

  it('is the sum of the executions in each window', async () => {
    const of = <T>(...values: T[]) => fc.constantFrom(...values);
    const members = [org.alice.id, org.bob.id];
    const past = fc.array(
      fc.record({
        policyId: of(...POLICIES),
        networkId: of(1, 2),
        tokenAddress: of(...TOKENS),
        amount: fc.bigInt({ min: 0n, max: 9n }),
        initiatorId: of(...members),
        accountId: of(...ACCOUNTS),
        destination: of(...DESTINATIONS, ...DESTINATIONS.map((address) => address.toLowerCase())),
        state: of('executing' as const, 'executed' as const, 'failed' as const),
        ageMs: fc.tuple(of(0, 1, 2, 3), of(-1, 0, 1, 60_000)).map(([hours, off]) => hours * HOUR_MS + off),
      }),
      { maxLength: 12 },
    );
    const window: fc.Arbitrary<UsageWindow> = fc.record({
      policyId: of(...POLICIES),
      hours: of(1, 2, 3),
      asset: fc.option(fc.record({ networkId: of(1, 2), tokenAddress: of(...TOKENS) })),
      initiatorId: fc.option(of(...members)),
      accountId: fc.option(of(...ACCOUNTS)),
      destination: fc.option(of(...DESTINATIONS)),
    });
    await fc.assert(
      fc.asyncProperty(past, fc.array(window, { minLength: 1, maxLength: 5 }), (made, windows) =>
        undone(async (tx, nowMs) => {
          const entries = made.map(({ ageMs, ...entry }) => ({
            ...entry,
            blockTimeMs: entry.state === 'executed' ? nowMs - ageMs : null,
          }));
          await insert(tx, entries);
          expect(await readUsage(tx, windows)).toEqual(
            windows.map((wanted) => usageIn(wanted, entries, nowMs)),
          );
        }),
      ),
      { numRuns: 150 },
    );
  });
});

/** Executions of a long history, and how many a statement stores. */
const MANY = 20_000;
const AT_ONCE = 500;

describe('a long history', () => {
  it('is not read outside the window', () =>
    undone(async (tx) => {
      await insert(tx, [anExecution()]);
      // A statement that takes long is ended.
      for (let first = 1; first <= MANY; first += AT_ONCE) {
        await tx.raw(
          `INSERT INTO policy_usage (organization_id, policy_id, transaction_id, network_id, token_address, amount,
            initiator_id, account_id, destination, status, block_at, decided_at)
          SELECT organization_id, policy_id, 'txn_' || n, network_id, token_address, amount, initiator_id, account_id,
            destination, 'committed', now() - n * interval '1 minute', now()
          FROM policy_usage, generate_series(?::integer, ?::integer) AS n WHERE status = 'reserved'`,
          [first, first + AT_ONCE - 1],
        );
      }
      // What autovacuum does sooner or later: the planner knows how much there is.
      await tx.raw('ANALYZE policy_usage');
      const statements: { sql: string; bindings: never[] }[] = [];
      tx.on('query', (query) => statements.push(query));
      expect(await readUsage(tx, [aWindow()])).toMatchObject([{ executions: 61, amount: 305n }]);
      const [statement] = statements;
      const text = statement?.sql.replace(/\$[0-9]+/g, () => '?') ?? '';
      const values = statement?.bindings ?? [];
      expect(text.split('?').length - 1).toBe(values.length);
      const { rows } = await tx.raw(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values);
      const read = JSON.stringify(rows).match(/"Index Name":"policy_usage_window".*?"Actual Rows":([0-9]+)/);
      expect(Number(read?.[1])).toBe(61);
    }, owner));
});

describe('a row of usage', () => {
  const refused = (code: string) => expect.objectContaining({ code });

  it('is never removed, and only its outcome changes', () =>
    undone(async (tx) => {
      await insert(tx, [anExecution()]);
      for (const statement of [
        'DELETE FROM policy_usage',
        'TRUNCATE policy_usage',
        'UPDATE policy_usage SET amount = 0',
        'UPDATE policy_usage SET policy_id = policy_id',
      ]) {
        await expect(tx.transaction((inner) => inner.raw(statement))).rejects.toEqual(refused('42501'));
      }
      await expect(owner('policy_usage').delete()).rejects.toThrow('policy_usage is append-only');
    }));

  it('is unique among unfailed executions of its transaction', () =>
    undone(async (tx) => {
      await insert(tx, [anExecution()]);
      const { id: _, counted_from: __, ...row } = requireRow(await tx('policy_usage').first());
      const again = (change: object) =>
        tx.transaction((inner) => inner('policy_usage').insert({ ...row, ...change }));
      await expect(again({})).rejects.toEqual(refused('23505'));
      await again({ status: 'released', decided_at: new Date() });
      await tx('policy_usage').update({ status: 'released', decided_at: new Date() });
      await again({});
      expect(await readUsage(tx, [aWindow()])).toMatchObject([{ executions: 1 }]);
    }));

  it('belongs to an existing transaction', async () => {
    const alone = service.transaction((tx) => insert(tx, [anExecution()]));
    await expect(alone).rejects.toEqual(refused('23503'));
  });

  it.each<[string, object]>([
    ['committed without a block', { status: 'committed', decided_at: new Date() }],
    ['in a block without being committed', { block_at: new Date() }],
    ['decided without a time', { status: 'released' }],
    ['reserved and decided', { decided_at: new Date() }],
  ])('is never %s', (_, change) =>
    undone(async (tx) => {
      await insert(tx, [anExecution()]);
      await expect(tx('policy_usage').update(change)).rejects.toEqual(refused('23514'));
    }),
  );
});
