import knexFactory from 'knex';
import type { Db, Tx } from './database';
import { type Migration, migrations } from './migrations';
import { queryRows, requireRow } from './rows';

const MIGRATION_LOCK = 7_215_301_994;
/** What waits for a lock on a table has everybody after it wait too. */
const LOCK_LIMIT_MS = 5_000;

/** What a migration may be told. */
interface MigrateOptions {
  /** All steps, in order. */
  readonly steps?: readonly Migration[];
  /** How long one waits for a lock on a table, in milliseconds. */
  readonly lockLimitMs?: number;
}

/**
 * Brings the schema up to date, each step in a transaction of its own. Needs the login that owns the tables, unless nothing
 * is left to do. Simultaneous calls wait for each other, and a step that was killed leaves nothing behind. Where a table is
 * in use for too long, the step changes nothing and it throws (SQLSTATE 55P03): call it again.
 */
export async function migrate(
  url: string,
  { steps = migrations, lockLimitMs = LOCK_LIMIT_MS }: MigrateOptions = {},
): Promise<{ applied: string[] }> {
  // One connection: it holds the lock between the steps, and releases it when it ends.
  const db = knexFactory({ client: 'pg', connection: url, pool: { min: 1, max: 1 } });
  try {
    await db.raw('SELECT pg_advisory_lock(?)', [MIGRATION_LOCK]);
    await db.raw(`SELECT set_config('lock_timeout', ?, false)`, [String(lockLimitMs)]);
    if (!(await hasSteps(db))) {
      await db.raw(
        'CREATE TABLE schema_migrations (name text PRIMARY KEY, applied_at timestamptz(3) NOT NULL DEFAULT now())',
      );
    }
    const missing = await missingSteps(db, steps);
    for (const step of missing) {
      await db.transaction(async (tx) => {
        await step.up(tx);
        await tx('schema_migrations').insert({ name: step.name });
      });
    }
    return { applied: missing.map(({ name }) => name) };
  } finally {
    await db.destroy();
  }
}

async function hasSteps(db: Db | Tx): Promise<boolean> {
  const [state] = await queryRows<{ exists: boolean }>(
    db,
    `SELECT to_regclass('schema_migrations') IS NOT NULL AS exists`,
  );
  return requireRow(state).exists;
}

async function missingSteps(db: Db | Tx, steps: readonly Migration[]): Promise<Migration[]> {
  const done = new Set(await db('schema_migrations').pluck('name'));
  return steps.filter(({ name }) => !done.has(name));
}

/** The steps that a database lacks. One that is ahead of this code lacks none: a released step takes nothing away. */
export async function schemaLacks(
  db: Db | Tx,
  steps: readonly Migration[] = migrations,
): Promise<readonly string[]> {
  const missing = (await hasSteps(db)) ? await missingSteps(db, steps) : steps;
  return missing.map(({ name }) => name);
}
