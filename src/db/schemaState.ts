import type { Db, Tx } from './database';
import { type Migration, migrationHash, migrations } from './migrations';
import { queryRows, requireRow } from './rows';

/** Whether a database has a table. */
export async function hasTable(db: Db | Tx, table: string): Promise<boolean> {
  const [state] = await queryRows<{ exists: boolean }>(db, 'SELECT to_regclass(?) IS NOT NULL AS exists', [
    table,
  ]);
  return requireRow(state).exists;
}

/** The steps of a database, compared with those of this code. */
interface SchemaState {
  readonly applied: readonly string[];
  /** Those that it lacks. */
  readonly missing: readonly string[];
  /** Those that this code does not know: it is ahead, which takes nothing away. */
  readonly unknown: readonly string[];
  /** Those of the same name that another build has applied otherwise: it may lack tables and columns. */
  readonly changed: readonly string[];
}

/** Compares the steps of a database with those of this code, by their hashes. */
export async function schemaState(
  db: Db | Tx,
  steps: readonly Migration[] = migrations,
): Promise<SchemaState> {
  // A build before the hashes has left none.
  const rows = (await hasTable(db, 'schema_migrations'))
    ? await queryRows<{ name: string; hash: string | null }>(
        db,
        `SELECT name, to_jsonb(m) ->> 'hash' AS hash FROM schema_migrations m ORDER BY name`,
      )
    : [];
  const hashes = new Map(rows.map(({ name, hash }) => [name, hash]));
  const known = new Set(steps.map(({ name }) => name));
  const isChanged = (step: Migration) =>
    hashes.has(step.name) && hashes.get(step.name) !== migrationHash(step);
  return {
    applied: rows.map(({ name }) => name),
    missing: steps.map(({ name }) => name).filter((name) => !hashes.has(name)),
    unknown: rows.map(({ name }) => name).filter((name) => !known.has(name)),
    changed: steps.filter(isChanged).map(({ name }) => name),
  };
}

/** Why a schema is not the one of this code; undefined where it is, or where it lacks steps. */
export function refuseSchema({ changed }: Pick<SchemaState, 'changed'>): string | undefined {
  if (changed.length === 0) return undefined;
  return `${changed.join(', ')} of this database ${changed.length === 1 ? 'is another migration' : 'are other migrations'} than in this build, which may lack tables or columns there: run the build that migrated it, or begin with an empty database`;
}
