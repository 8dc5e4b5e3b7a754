import type { Db, Tx } from './database';
import type { InstallationRow } from './tables';

// Column by column: the signer may read the id alone.
async function readInstallation<C extends keyof InstallationRow>(db: Db | Tx, column: C) {
  const row = (await db('installation').first(column)) as Pick<InstallationRow, C> | undefined;
  if (!row) throw new Error('the database has no installation row: run the migrations');
  return row[column];
}

/** The id of the installation that this database belongs to. A copy with another id shares no signatures with it. */
export function readInstallationId(db: Db | Tx): Promise<string> {
  return readInstallation(db, 'id');
}

/** Whether it is one of production: `db migrate --production` has said so. */
export function readProduction(db: Db | Tx): Promise<boolean> {
  return readInstallation(db, 'production');
}

/** The secret that authenticates the cursors of lists. */
export function readCursorSecret(db: Db | Tx): Promise<Buffer> {
  return readInstallation(db, 'cursor_secret');
}

/** What secrets of webhooks are derived from, and the key that signs what is sent to them. */
export function readDeliverySeed(db: Db | Tx): Promise<Buffer> {
  return readInstallation(db, 'delivery_seed');
}
