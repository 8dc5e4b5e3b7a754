import type { NetConnectOpts } from 'node:net';
import { join } from 'node:path';
import knexFactory, { type Knex } from 'knex';
import { Client, types } from 'pg';
import { Connections, proveRoom, proveWritable } from './connections';
import { noteFailedStatements } from './databaseFailure';
import { PreparingClient } from './preparingClient';
import { queryRows, requireRow } from './rows';

/** A pool of connections. */
export type Db = Knex;
/** One database transaction. */
export type Tx = Knex.Transaction;

const BIGINT_OID = 20;
types.setTypeParser(BIGINT_OID, BigInt);

const ignore = () => undefined;
/** Failures reach the caller as errors; knex would also print them, with their stack, outside the log. */
export const SILENT = { warn: ignore, error: ignore, deprecate: ignore, debug: ignore };

/** What is known of a pool beside its connections. */
interface Pool {
  readonly db: Db;
  readonly connections: Connections;
  /** Whether a connection keeps what a transaction before it has prepared. */
  readonly keepsStatements: boolean;
}

/** By the configuration that a pool shares with its transactions. */
const pools = new WeakMap<object, Pool>();

function requirePool(db: Db | Tx): Pool {
  const pool = pools.get(db.client.config);
  if (!pool) throw new Error('the pool was not opened by createDatabase');
  return pool;
}

/** The connections of a pool, or of the pool of a transaction. */
function requireConnections(db: Db | Tx): Connections {
  return requirePool(db).connections;
}

/** Whether statements can be prepared once per connection. */
export function keepsStatements(db: Db | Tx): boolean {
  return requirePool(db).keepsStatements;
}

/** The pool itself, or the one that a transaction has its connection of. */
export function poolOf(handle: Db | Tx): Db {
  return requirePool(handle).db;
}

/** How a pool is opened. */
export interface PoolOptions {
  readonly poolMax?: number;
  readonly statementLimitMs?: number;
  /**
   * The server is reached through a pooler that gives each transaction another connection (PgBouncer's transaction mode):
   * then its login has the settings of a session, and nothing is prepared.
   */
  readonly throughPooler?: boolean;
  /** How long connecting, waiting for a connection, and one statement may take, each; in place of the limits of the service. */
  readonly patienceMs?: number | undefined;
}

/** Postgres ends a database transaction that is idle for longer. */
export const IDLE_TRANSACTION_LIMIT_MS = 30_000;

/**
 * Opens a pool of connections to Postgres. Calls fail within a few seconds while the database is unavailable (connecting
 * 4 s, waiting for a connection 5 s, one statement 8 s, and 9 s where the server has vanished).
 */
export function createDatabase(
  url: string,
  {
    poolMax = 20,
    patienceMs,
    statementLimitMs = patienceMs ?? 8_000,
    throughPooler = false,
  }: PoolOptions = {},
): Db {
  const startup = [
    '-c timezone=UTC',
    `-c statement_timeout=${statementLimitMs}`,
    `-c idle_in_transaction_session_timeout=${IDLE_TRANSACTION_LIMIT_MS}`,
  ];
  const connections = new Connections(patienceMs);
  const db = knexFactory({
    client: throughPooler ? 'pg' : (PreparingClient as unknown as typeof Knex.Client),
    // Knex asks each connection for it otherwise, and throws outside of any statement when the answer is odd.
    version: '15',
    connection: {
      connectionString: url,
      connectionTimeoutMillis: patienceMs ?? 4_000,
      ...(throughPooler ? {} : { options: startup.join(' ') }),
      application_name: 'orgwallet',
      ...Connections.options(statementLimitMs),
    } as Knex.PgConnectionConfig,
    pool: { min: 0, max: poolMax, idleTimeoutMillis: 30_000, ...connections.pool },
    acquireConnectionTimeout: patienceMs ?? 5_000,
    // Values of statements are kept out of error messages and the log.
    compileSqlOnError: false,
    log: SILENT,
  });
  noteFailedStatements(db);
  connections.watch(db);
  pools.set(db.client.config, { db, connections, keepsStatements: !throughPooler });
  return db;
}

/** Where a URL of Postgres leads: to a port, or to a socket. */
export function serverOf(url: string): NetConnectOpts {
  const { host, port } = new Client({ connectionString: url });
  return host.startsWith('/') ? { path: join(host, `.s.PGSQL.${port}`) } : { host, port };
}

/** Calls `listener` whenever a pool has opened a connection: its name may lead to another server than before. */
export function onConnect(db: Db, listener: () => void): void {
  db.client.pool.on('createSuccess', listener);
}

/**
 * Throws when the database does not answer, or is read-only: then every connection proves itself before it is used again. Throws
 * when its disk is full.
 */
export async function assertWritable(db: Db): Promise<void> {
  const connection = await db.client.acquireConnection();
  try {
    await proveWritable(connection).catch((error) => {
      requireConnections(db).proveAll();
      throw error;
    });
    await proveRoom(connection);
  } finally {
    await db.client.releaseConnection(connection);
  }
}

/** The time by the database's clock, in whole milliseconds; inside a transaction, the time it began. */
export async function databaseNow(db: Db | Tx): Promise<Date> {
  const [row] = await queryRows<{ now: Date }>(db, `SELECT date_trunc('milliseconds', now()) AS now`);
  return requireRow(row).now;
}
