import knexFactory from 'knex';
import { type Db, SILENT } from './database';
import { noteFailedStatements } from './databaseFailure';
import { type Migration, migrationHash, migrations } from './migrations';
import { hasTable, refuseSchema, schemaState } from './schemaState';

const MIGRATION_LOCK = 7_215_301_994;

/** What waits for a lock on a table has everybody after it wait too. */
const LOCK_LIMIT_MS = 5_000;

/** What a migration may be told. */
interface MigrateOptions {
  /** All steps, in order. */
  readonly steps?: readonly Migration[];
  /** Remembers that this is an installation of production; without it, what is remembered stays. */
  readonly production?: boolean;
  /** How long one waits for a lock on a table, in milliseconds. */
  readonly lockLimitMs?: number;
}

/** Another build has applied other steps: nothing of this one fits. */
export class SchemaChanged extends Error {
  override readonly name = 'SchemaChanged';
}

/**
 * Brings the schema up to date, each step in a transaction of its own. Needs the login that owns the tables, unless nothing
 * is left to do. A row that was deleted from a table of one row is there again. Simultaneous calls wait for each other, and a step that was killed leaves nothing behind. Where a table is
 * in use for too long, the step changes nothing and it throws (SQLSTATE 55P03): call it again. Throws SchemaChanged where
 * another build has applied other steps.
 */
export async function migrate(
  url: string,
  { steps = migrations, production = false, lockLimitMs = LOCK_LIMIT_MS }: MigrateOptions = {},
): Promise<{ applied: string[] }> {
  // One connection: it holds the lock between the steps, and releases it when it ends.
  const db = knexFactory({ client: 'pg', connection: url, pool: { min: 1, max: 1 }, log: SILENT });
  noteFailedStatements(db);
  try {
    await db.raw('SELECT pg_advisory_lock(?)', [MIGRATION_LOCK]);
    await db.raw(`SELECT set_config('lock_timeout', ?, false)`, [String(lockLimitMs)]);
    if (!(await hasTable(db, 'schema_migrations'))) {
      await db.raw(
        'CREATE TABLE schema_migrations (name text PRIMARY KEY, hash text NOT NULL, applied_at timestamptz(3) NOT NULL DEFAULT now())',
      );
    }
    const state = await schemaState(db, steps);
    const refusal = refuseSchema(state);
    if (refusal) throw new SchemaChanged(refusal);
    const missing = steps.filter(({ name }) => state.missing.includes(name));
    for (const step of missing) {
      await db.transaction(async (tx) => {
        await tx.raw(step.sql);
        await tx('schema_migrations').insert({ name: step.name, hash: migrationHash(step) });
      });
    }
    await restoreRows(db);
    if (production) await db.raw('UPDATE installation SET production = true WHERE NOT production');
    return { applied: missing.map(({ name }) => name) };
  } finally {
    await db.destroy();
  }
}

/**
 * What a table of one row begins with again, where that was deleted: nothing is held, the position of the journal is unknown
 * (its default), and nothing was compared.
 */
const RESTORED = {
  signer_lease: 'INSERT INTO signer_lease DEFAULT VALUES ON CONFLICT DO NOTHING',
  journal_comparison: `INSERT INTO journal_comparison (server) VALUES ('deleted') ON CONFLICT DO NOTHING`,
} as const;

async function restoreRows(db: Db): Promise<void> {
  for (const [table, statement] of Object.entries(RESTORED)) {
    const isEmpty = (await hasTable(db, table)) && (await db(table).first('singleton')) === undefined;
    if (isEmpty) await db.raw(statement);
  }
}
