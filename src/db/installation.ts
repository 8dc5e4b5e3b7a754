import type { Db, Tx } from './database';

/** The id of the installation that this database belongs to. A copy with another id shares no signatures with it. */
export async function readInstallationId(db: Db | Tx): Promise<string> {
  const row = await db('installation').first('id');
  return row.id;
}
