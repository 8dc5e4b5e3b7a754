import type { Knex } from 'knex';
import { type Client, DatabaseError, type QueryConfig } from 'pg';

/** Postgres ends a statement itself at its limit; a server that has not answered so much later is gone. In milliseconds. */
const ANSWER_GRACE_MS = 1_000;
/** Connections do not outlive this: another server behind the same name gets its share. */
const MAX_AGE_MS = 30 * 60_000;
const MAX_AGE_JITTER_MS = 5 * 60_000;

/** A connection as knex and pg keep it. */
interface Pooled extends Client {
  readonly __knexUid: string;
}

/** pg gives this error no code, and knex writes the statement before it. */
function isUnanswered(error: unknown): boolean {
  return error instanceof Error && error.message.endsWith('Query read timeout');
}

/** A connection has planned a statement for a table that a migration has changed since. */
function isStalePlan(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '0A000';
}

/** How long a connection may take to prove itself, unless its pool says otherwise; in milliseconds. */
const PROOF_LIMIT_MS = 2_000;
/**
 * What a server reports that has been demoted, or stops serving (PostgreSQL, appendix A): read_only_sql_transaction,
 * admin_shutdown, crash_shutdown, cannot_connect_now, idle_session_timeout. They only say that it is time to look.
 */
const DEMOTED = new Set(['25006', '57P01', '57P02', '57P03', '57P05']);

function isDemoted(error: unknown): boolean {
  return error instanceof DatabaseError && DEMOTED.has(error.code ?? '');
}

/** The database is read-only on a connection: a standby, or a server that an operator has switched. */
class ReadOnlyDatabase extends Error {
  override readonly name = 'ReadOnlyDatabase';
  constructor() {
    super('the database is read-only: it is a standby, or default_transaction_read_only is on');
  }
}

/** Asks the server of a connection whether it can write, which may take `limitMs`. Throws ReadOnlyDatabase. */
export async function proveWritable(connection: Client, limitMs = PROOF_LIMIT_MS): Promise<void> {
  const limited: QueryConfig & { query_timeout: number } = {
    text: 'SHOW transaction_read_only',
    query_timeout: limitMs,
  };
  const { rows } = await connection.query<{ transaction_read_only: string }>(limited);
  if (rows[0]?.transaction_read_only !== 'off') throw new ReadOnlyDatabase();
}

/** The server cannot write to the disk that has its files. */
class DiskFull extends Error {
  override readonly name = 'DiskFull';
  constructor({ message }: DatabaseError) {
    super(`the database cannot write to its disk: ${message}`);
  }
}

/** disk_full (PostgreSQL, appendix A). */
const DISK_FULL = '53100';

/**
 * Has the server of a connection write a temporary file of some 60 kB, which it deletes at once: nothing is logged to the WAL,
 * and no table grows. Without room, statements that only read or change a row in place still succeed. Throws DiskFull.
 */
export async function proveRoom(connection: Client, limitMs = PROOF_LIMIT_MS): Promise<void> {
  const limited: QueryConfig & { query_timeout: number } = {
    // One message, and so one database transaction. What does not fit into work_mem (in kB) is written to the disk.
    text: 'SET LOCAL work_mem = 64; WITH n AS MATERIALIZED (SELECT generate_series(1, 4000)) SELECT count(*) FROM n',
    query_timeout: limitMs,
  };
  try {
    await connection.query(limited);
  } catch (error) {
    throw error instanceof DatabaseError && error.code === DISK_FULL ? new DiskFull(error) : error;
  }
}

/**
 * Keeps the connections of a pool fit for use. Where a server vanishes without closing them (a failover, a firewall), a
 * statement fails a second after its limit, its connection is destroyed, and all others of the pool are replaced before
 * they are used again. Where a server is demoted, or ends a connection, each other one has to prove that it can write before
 * it is used again; and each new one has to.
 */
export class Connections {
  private readonly open = new Map<string, Pooled>();
  /** To be replaced before they are used again. */
  private readonly unfit = new WeakSet<Pooled>();
  /** To be asked whether they can write before they are used again. */
  private readonly unproven = new WeakSet<Pooled>();

  /** `proofLimitMs`: how long a connection may take to prove itself. */
  constructor(private readonly proofLimitMs?: number) {}

  /** What pg is told about every connection. `statementLimitMs`: when Postgres ends a statement. */
  static options(statementLimitMs: number) {
    return { query_timeout: statementLimitMs + ANSWER_GRACE_MS, keepAlive: true };
  }

  /** What the pool is told. */
  readonly pool: Knex.PoolConfig = {
    maxConnectionLifetimeMillis: MAX_AGE_MS,
    maxConnectionLifetimeJitterMillis: MAX_AGE_JITTER_MS,
    afterCreate: (connection: Pooled, done: (error?: Error) => void) => {
      const uid = connection.__knexUid;
      this.open.set(uid, connection);
      connection.once('end', () => this.open.delete(uid));
      // The server ends one that nothing is asked on.
      connection.on('error', (error) => this.noteFailure(uid, error));
      proveWritable(connection, this.proofLimitMs).then(
        () => done(),
        (error) => {
          connection.connection.stream.destroy();
          done(error);
        },
      );
    },
    validate: async (connection: Pooled) => {
      if (!this.unfit.has(connection) && (await this.isProven(connection))) return true;
      // What has vanished does not answer a goodbye either.
      connection.connection.stream.destroy();
      return false;
    },
  };

  private async isProven(connection: Pooled): Promise<boolean> {
    if (!this.unproven.has(connection)) return true;
    try {
      await proveWritable(connection, this.proofLimitMs);
      return this.unproven.delete(connection);
    } catch {
      return false;
    }
  }

  /** Follows the failures of a pool's statements. */
  watch(db: Knex): void {
    db.on('query-error', (error: unknown, { __knexUid }: { __knexUid: string }) =>
      this.noteFailure(__knexUid, error),
    );
  }

  /** Notes the failure of a statement on a connection, or of the connection itself. */
  noteFailure(uid: string, error: unknown): void {
    const failed = this.open.get(uid);
    if (isDemoted(error)) {
      if (failed) this.unfit.add(failed);
      this.proveAll();
      return;
    }
    if (isUnanswered(error)) failed?.connection.stream.destroy();
    else if (!isStalePlan(error)) return;
    for (const connection of this.open.values()) this.unfit.add(connection);
  }

  /** Has every connection prove that it can write before it is used again. */
  proveAll(): void {
    for (const connection of this.open.values()) this.unproven.add(connection);
  }
}
