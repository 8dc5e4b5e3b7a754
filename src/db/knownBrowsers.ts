import { BROWSER_SECONDS } from '../domain/session';
import { secretHash } from './credentials';
import type { Db, Tx } from './database';
import { queryRows, requireRow } from './rows';

/** Remembers that a member has signed in with a browser. True where they had not before. */
export async function rememberBrowser(tx: Tx, memberId: string, browser: string): Promise<boolean> {
  const [row] = await queryRows<{ is_new: boolean }>(
    tx,
    `INSERT INTO known_browsers (member_id, browser_hash) VALUES (?, ?)
     ON CONFLICT (member_id, browser_hash) DO UPDATE SET last_used_at = now() RETURNING xmax = 0 AS is_new`,
    [memberId, secretHash(browser)],
  );
  return requireRow(row).is_new;
}

/** Deletes browsers that nobody has signed in with for as long as their cookie lasts. */
export async function deleteUnusedBrowsers(db: Db): Promise<void> {
  await db.raw('DELETE FROM known_browsers WHERE last_used_at < now() - make_interval(secs => ?)', [
    BROWSER_SECONDS,
  ]);
}
