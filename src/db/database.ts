import knexFactory, { type Knex } from 'knex';
import { types } from 'pg';
import { Connections } from './connections';
import { noteFailedStatements } from './databaseFailure';
import { migrations } from './migrations';
import { queryRows, requireRow } from './rows';

/** A pool of connections. */
export type Db = Knex;
/** One database transaction. */
export type Tx = Knex.Transaction;

const BIGINT_OID = 20;
types.setTypeParser(BIGINT_OID, BigInt);

// Failures reach the caller as errors; knex would also print them, outside the log.
const ignore = () => undefined;

/** By the configuration that a pool shares with its transactions. */
const connectionsOf = new WeakMap<object, Connections>();

/** The connections of a pool, or of the pool of a transaction. */
export function requireConnections(db: Db | Tx): Connections {
  const connections = connectionsOf.get(db.client.config);
  if (!connections) throw new Error('the pool was not opened by createDatabase');
  return connections;
}

/**
 * Opens a pool of connections to Postgres. Calls fail within a few seconds while the database is unavailable (connecting
 * 4 s, waiting for a connection 5 s, one statement 8 s, and 9 s where the server has vanished).
 */
export function createDatabase(
  url: string,
  { poolMax = 20, statementLimitMs = 8_000 }: { poolMax?: number; statementLimitMs?: number } = {},
): Db {
  const startup = [
    '-c timezone=UTC',
    `-c statement_timeout=${statementLimitMs}`,
    '-c idle_in_transaction_session_timeout=30000',
  ];
  const connections = new Connections();
  const db = knexFactory({
    client: 'pg',
    connection: {
      connectionString: url,
      connectionTimeoutMillis: 4_000,
      options: startup.join(' '),
      application_name: 'orgwallet',
      ...Connections.options(statementLimitMs),
    } as Knex.PgConnectionConfig,
    pool: { min: 0, max: poolMax, idleTimeoutMillis: 30_000, ...connections.pool },
    acquireConnectionTimeout: 5_000,
    // Values of statements are kept out of error messages and the log.
    compileSqlOnError: false,
    log: { warn: ignore, error: ignore, deprecate: ignore, debug: ignore },
  });
  noteFailedStatements(db);
  connections.watch(db);
  connectionsOf.set(db.client.config, connections);
  return db;
}

const MIGRATION_LOCK = 7_215_301_994;

/**
 * Brings the schema up to date. Needs the login that owns the tables, unless nothing is left to do. Simultaneous calls wait
 * for each other, and a call that was killed leaves nothing behind.
 */
export async function migrate(url: string): Promise<{ applied: string[] }> {
  const db = knexFactory({ client: 'pg', connection: url, pool: { min: 0, max: 1 } });
  try {
    return await db.transaction(async (tx) => {
      await tx.raw('SELECT pg_advisory_xact_lock(?)', [MIGRATION_LOCK]);
      const [state] = await queryRows<{ exists: boolean }>(
        tx,
        `SELECT to_regclass('schema_migrations') IS NOT NULL AS exists`,
      );
      if (!requireRow(state).exists) {
        await tx.raw(
          'CREATE TABLE schema_migrations (name text PRIMARY KEY, applied_at timestamptz(3) NOT NULL DEFAULT now())',
        );
      }
      const done = new Set(await tx('schema_migrations').pluck('name'));
      const applied: string[] = [];
      for (const migration of migrations) {
        if (done.has(migration.name)) continue;
        await migration.up(tx);
        await tx('schema_migrations').insert({ name: migration.name });
        applied.push(migration.name);
      }
      return { applied };
    });
  } finally {
    await db.destroy();
  }
}

/** Throws when the database does not answer. */
export async function pingDatabase(db: Db): Promise<void> {
  await db.raw('SELECT 1');
}

/** The time by the database's clock, in whole milliseconds; inside a transaction, the time it began. */
export async function databaseNow(db: Db | Tx): Promise<Date> {
  const [row] = await queryRows<{ now: Date }>(db, `SELECT date_trunc('milliseconds', now()) AS now`);
  return requireRow(row).now;
}
