import type { Knex } from 'knex';
import { type Client, DatabaseError } from 'pg';

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
export function isStalePlan(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '0A000';
}

/**
 * Keeps the connections of a pool fit for use: where a server vanishes without closing them (a failover, a firewall), a
 * statement fails a second after its limit, its connection is destroyed, and all others of the pool are replaced before
 * they are used again.
 */
export class Connections {
  private readonly open = new Map<string, Pooled>();
  /** To be replaced before they are used again. */
  private readonly unfit = new WeakSet<Pooled>();

  /** What pg is told about every connection. `statementLimitMs`: when Postgres ends a statement. */
  static options(statementLimitMs: number) {
    return { query_timeout: statementLimitMs + ANSWER_GRACE_MS, keepAlive: true };
  }

  /** What the pool is told. */
  readonly pool: Knex.PoolConfig = {
    maxConnectionLifetimeMillis: MAX_AGE_MS,
    maxConnectionLifetimeJitterMillis: MAX_AGE_JITTER_MS,
    afterCreate: (connection: Pooled, done: () => void) => {
      this.open.set(connection.__knexUid, connection);
      connection.once('end', () => this.open.delete(connection.__knexUid));
      done();
    },
    validate: (connection: Pooled) => {
      if (!this.unfit.has(connection)) return true;
      // What has vanished does not answer a goodbye either.
      connection.connection.stream.destroy();
      return false;
    },
  };

  /** Follows the failures of a pool's statements. */
  watch(db: Knex): void {
    db.on('query-error', (error: unknown, { __knexUid }: { __knexUid: string }) =>
      this.noteFailure(__knexUid, error),
    );
  }

  /** Notes the failure of a statement on a connection. */
  noteFailure(uid: string, error: unknown): void {
    if (isUnanswered(error)) this.open.get(uid)?.connection.stream.destroy();
    else if (!isStalePlan(error)) return;
    for (const connection of this.open.values()) this.unfit.add(connection);
  }
}
