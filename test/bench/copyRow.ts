import type { Client as PostgresClient } from 'pg';

/** Copies a row so often; `changes` are the columns of copy number `n` that differ, as SQL. */
export async function copyRow(
  postgres: PostgresClient,
  table: string,
  {
    where,
    count,
    changes,
  }: { readonly where: string; readonly count: number; readonly changes: Readonly<Record<string, string>> },
): Promise<void> {
  const { fields } = await postgres.query(`SELECT * FROM ${table} LIMIT 0`);
  const columns = fields.map(({ name }) => name);
  const values = columns.map((name) => changes[name] ?? `original.${name}`);
  await postgres.query(
    `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values.join(', ')}
     FROM ${table} AS original, generate_series(1, ${count}) AS n WHERE ${where}`,
  );
}
