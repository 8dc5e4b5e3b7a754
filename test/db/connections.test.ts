import { join } from 'node:path';
import { Client } from 'pg';
import { assertWritable, createDatabase, type Db, type Tx } from '../../src/db/database';
import { listenForNotifications } from '../../src/db/notifications';
import { StatementNames } from '../../src/db/preparingClient';
import { queryNumbered } from '../../src/db/rows';
import { listTransactions, pageOfTransactions } from '../../src/db/transactionLists';
import { asAdmin, createTestDatabase, sharedStack } from '../support/stack';
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy';
import { until } from '../support/until';

type Database = Awaited<ReturnType<typeof createTestDatabase>>;

const LIMIT_MS = 1_000;

let database: Database;
let proxy: TcpProxy;
/** The connection through it. */
let url: string;
let db: Db;

/** Nothing passes any more on the connections that are open, and nothing closes them; new ones pass. */
async function vanish(): Promise<void> {
  // One that is being opened would be waited for until its own limit.
  await until('no connection is being opened', async () => db.client.pool.numPendingCreates() === 0);
  proxy.vanish();
  proxy.appear();
}

const backend = async () => Number((await db.raw('SELECT pg_backend_pid() AS pid')).rows[0].pid);

/** Opens so many connections. */
async function warm(connections: number): Promise<Set<number>> {
  const asked = Array.from({ length: connections }, () =>
    db.raw('SELECT pg_backend_pid() AS pid, pg_sleep(0.3)'),
  );
  return new Set((await Promise.all(asked)).map(({ rows }) => Number(rows[0].pid)));
}

/** The server ends every connection of the pool, and whatever listens. */
async function end(): Promise<void> {
  await asAdmin(sharedStack().databaseAdminUrl, (owner) =>
    owner.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()',
      [database.name],
    ),
  );
}

beforeAll(async () => {
  database = await createTestDatabase();
  const { host, port, user, password } = new Client({ connectionString: database.url });
  proxy = await startTcpProxy({ path: join(host, `.s.PGSQL.${port}`) });
  url = `postgresql://${user}:${password}@127.0.0.1:${proxy.port}/${database.name}`;
  db = createDatabase(url, { poolMax: 6, statementLimitMs: LIMIT_MS });
});
afterAll(async () => {
  await db.destroy();
  proxy.close();
  await database.drop();
});

test('a pool goes on after its server has vanished without closing a connection', async () => {
  expect((await warm(6)).size).toBe(6);
  await vanish();
  await expect(backend()).rejects.toThrow('Query read timeout');
  // Whichever of the pool comes next.
  const after = await Promise.all(Array.from({ length: 12 }, backend));
  expect(after).toHaveLength(12);
});

test('a transaction fails once, and not again while it is rolled back', async () => {
  const began = performance.now();
  const work = db.transaction(async (tx) => {
    await tx.raw('SELECT 1');
    await vanish();
    await tx.raw('SELECT 2');
  });
  await expect(work).rejects.toThrow('Connection terminated');
  expect(performance.now() - began).toBeLessThan(2 * (LIMIT_MS + 1_000));
  expect(await backend()).toBeGreaterThan(0);
});

test('notifications arrive again after their server has vanished', async () => {
  const notifications = listenForNotifications(url, ['somewhere'], { everyMs: 200, answerLimitMs: 300 });
  let received = 0;
  notifications.subscribe('somewhere', 'now', () => {
    received += 1;
  });
  await until('it listens', async () => notifications.connected());
  await vanish();
  await until('it has noticed', async () => !notifications.connected());
  await until('it receives one again', async () => {
    await db.raw(`SELECT pg_notify('somewhere', 'now')`);
    return received > 0;
  });
  await notifications.stop();
});

/** What sessions that begin now may do: an operator who demotes a server, or a standby behind the same name. */
async function switchTo(mode: 'readOnly' | 'readWrite'): Promise<void> {
  const value = mode === 'readOnly' ? 'on' : 'off';
  await asAdmin(sharedStack().databaseAdminUrl, (owner) =>
    owner.query(`ALTER DATABASE ${database.name} SET default_transaction_read_only = ${value}`),
  );
}

const write = (tx: Db | Tx = db) => tx.raw(`SELECT pg_notify('somewhere', 'now'), * FROM written FOR UPDATE`);

describe('a server that is read-only for a while', () => {
  beforeAll(async () => {
    await db.raw('CREATE TABLE written AS SELECT 1 AS id');
  });
  beforeEach(async () => {
    await warm(6);
  });
  afterEach(async () => {
    await switchTo('readWrite');
    await db.raw('SELECT 1');
  });

  test('no connection that was opened meanwhile outlasts it', async () => {
    await switchTo('readOnly');
    await end();
    await expect(write()).rejects.toThrow(/read-only/);
    await expect(assertWritable(db)).rejects.toThrow(/read-only/);
    await switchTo('readWrite');
    await Promise.all(Array.from({ length: 12 }, () => write()));
    await assertWritable(db);
  });

  test.each(['statement', 'transaction', 'prepared statement'])(
    'connections that have become read-only are replaced once a %s has failed',
    async (kind) => {
      await Promise.all(
        Array.from({ length: 6 }, () =>
          db.raw('SET default_transaction_read_only = on; SELECT pg_sleep(0.3)'),
        ),
      );
      const text = 'SELECT id FROM written FOR UPDATE';
      const failing = {
        statement: () => write(),
        transaction: () => db.transaction((tx) => write(tx)),
        'prepared statement': () => queryNumbered(db, text, []),
      }[kind];
      await expect(failing?.()).rejects.toMatchObject({ code: '25006' });
      await Promise.all(Array.from({ length: 12 }, () => write()));
    },
  );

  test('connections that have become read-only are replaced once readiness has seen one', async () => {
    await Promise.all(
      Array.from({ length: 6 }, () => db.raw('SET default_transaction_read_only = on; SELECT pg_sleep(0.3)')),
    );
    await expect(assertWritable(db)).rejects.toThrow(/read-only/);
    await assertWritable(db);
    await Promise.all(Array.from({ length: 12 }, () => write()));
  });

  test('what listens on it listens elsewhere', async () => {
    const notifications = listenForNotifications(url, ['somewhere'], { everyMs: 200, answerLimitMs: 300 });
    await until('it listens', async () => notifications.connected());
    await switchTo('readOnly');
    await end();
    await until('it has noticed', async () => !notifications.connected());
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(notifications.connected()).toBe(false);
    await switchTo('readWrite');
    await until('it listens again', async () => notifications.connected());
    await notifications.stop();
  });
});

test('when the server ends one connection, those that cannot write are replaced', async () => {
  const pids = await warm(6);
  // One is ended; another has become read-only, and nothing has failed on it yet.
  await Promise.all(
    Array.from({ length: 6 }, () => db.raw('SET default_transaction_read_only = on; SELECT pg_sleep(0.3)')),
  );
  await asAdmin(sharedStack().databaseAdminUrl, (owner) =>
    owner.query('SELECT pg_terminate_backend($1)', [[...pids][0]]),
  );
  await until('it is noticed', async () => {
    await write();
    return true;
  });
  await Promise.all(Array.from({ length: 12 }, () => write()));
});

test('a prepared statement is planned again after a table was changed', async () => {
  await db.raw('CREATE TABLE growing (id integer)');
  await db.raw('INSERT INTO growing VALUES (1)');
  const read = () => queryNumbered(db, 'SELECT * FROM growing', []);
  await warm(6);
  expect(await Promise.all(Array.from({ length: 6 }, read))).toEqual(Array(6).fill([{ id: 1 }]));
  await db.raw('ALTER TABLE growing ADD COLUMN name text');
  expect(await Promise.all(Array.from({ length: 12 }, read))).toEqual(
    Array(12).fill([{ id: 1, name: null }]),
  );
});

test('a list is planned for its values', async () => {
  const one = createDatabase(database.url, { poolMax: 1 });
  const filter = { organizationId: 'org_1', accountId: 'acc_1', limit: 50 };
  for (let n = 0; n < 3; n += 1) {
    await listTransactions(one, filter);
    await pageOfTransactions(one, filter, 1_000);
    await one('members').where({ organization_id: 'org_1' }).orderBy('position').limit(2).pluck('id');
    await one('members').where({ id: 'mem_1' }).first('id');
  }
  const { rows } = await one.raw('SELECT statement FROM pg_prepared_statements');
  expect(rows).toEqual([{ statement: 'select "id" from "members" where "id" = $1 limit $2' }]);
  await one.destroy();
});

test('what is sent once, or is very long, takes no place among what is prepared', () => {
  const names = new StatementNames();
  const nameAfter = (times: number, sql: string) =>
    Array.from({ length: times }, () => names.nameOf(sql)).at(-1);
  for (let n = 0; n < 1_000; n += 1) names.nameOf(`SELECT id FROM members WHERE position = ${n}`);
  expect(nameAfter(3, `INSERT INTO members (id) VALUES ${'($1), '.repeat(4_000)}`)).toBeUndefined();
  expect(nameAfter(2, 'SELECT id FROM members WHERE id = $1')).toBe('statement_0');
  // Of a path in JSON, not of a table.
  expect(nameAfter(2, `SELECT jsonb_path_query(definition, '$.*.id') FROM policies`)).toBe('statement_1');
});

test('what other pools have prepared takes no place of a pool', async () => {
  const [other, one] = [1, 2].map(() => createDatabase(database.url, { poolMax: 1 })) as [Db, Db];
  for (let n = 0; n < 301; n += 1) {
    for (let times = 0; times < 2; times += 1) await other.raw(`SELECT ${n} WHERE 1 = ?`, [1]);
  }
  for (let times = 0; times < 2; times += 1) await one.raw('SELECT 301 WHERE 1 = ?', [1]);
  const counts = [other, one].map(async (pool) => {
    const { rows } = await pool.raw('SELECT count(*)::int AS count FROM pg_prepared_statements');
    await pool.destroy();
    return rows[0].count;
  });
  expect(await Promise.all(counts)).toEqual([300, 1]);
});

test('what is sent again is prepared, but for what a star selects', async () => {
  const one = createDatabase(database.url, { poolMax: 1 });
  await one.raw('CREATE TABLE repeated (id integer)');
  const prepared = async (text: string) => {
    const connection = await one.client.acquireConnection();
    try {
      const sql = 'SELECT count(*)::int AS count FROM pg_prepared_statements WHERE statement = $1';
      return (await connection.query(sql, [text])).rows[0].count;
    } finally {
      await one.client.releaseConnection(connection);
    }
  };
  const all = 'SELECT * FROM repeated';
  const named = 'INSERT INTO repeated (id) VALUES ($1) RETURNING id';
  for (const id of [1, 2, 3]) {
    await one.raw(all);
    const { rows } = await one.raw('INSERT INTO repeated (id) VALUES (?) RETURNING id', [id]);
    expect(rows).toEqual([{ id }]);
    expect(await prepared(named)).toBe(id === 1 ? 0 : 1);
  }
  expect(await prepared(all)).toBe(0);
  await one.raw('ALTER TABLE repeated ADD COLUMN name text');
  expect((await one.raw('INSERT INTO repeated (id) VALUES (?) RETURNING id', [4])).rows).toEqual([{ id: 4 }]);
  await one.destroy();
});
