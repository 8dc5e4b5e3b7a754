import knexFactory, { type Knex } from 'knex';
import { types } from 'pg';
import { Connections } from './connections';
import { noteFailedStatements } from './databaseFailure';
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

/** Throws when the database does not answer. */
export async function pingDatabase(db: Db): Promise<void> {
  await db.raw('SELECT 1');
}

/** The time by the database's clock, in whole milliseconds; inside a transaction, the time it began. */
export async function databaseNow(db: Db | Tx): Promise<Date> {
  const [row] = await queryRows<{ now: Date }>(db, `SELECT date_trunc('milliseconds', now()) AS now`);
  return requireRow(row).now;
}
