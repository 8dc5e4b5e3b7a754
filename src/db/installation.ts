import type { Db, Tx } from './database';
import type { InstallationRow } from './tables';

async function readInstallation(db: Db | Tx): Promise<InstallationRow> {
  const row = await db('installation').first();
  if (!row) throw new Error('the database has no installation row: run the migrations');
  return row;
}

/** The id of the installation that this database belongs to. A copy with another id shares no signatures with it. */
export async function readInstallationId(db: Db | Tx): Promise<string> {
  return (await readInstallation(db)).id;
}

/** The secret that authenticates the cursors of lists. */
export async function readCursorSecret(db: Db | Tx): Promise<Buffer> {
  return (await readInstallation(db)).cursor_secret;
}
