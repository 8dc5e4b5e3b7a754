import type { Compared } from '../domain/journalComparison';
import type { Db } from './database';
import { queryRows } from './rows';

/** Whether the database has all that the journal of the signer has, and which start of the server, and which copy of the tables, this is. */
export interface JournalComparison extends Compared {
  readonly server: string;
}

/**
 * A server that was restored, failed over or rolled back has another start; a database that was created or restored anew,
 * other ids of its own and of its tables.
 */
export const SERVER = `concat_ws('/', (SELECT oid FROM pg_database WHERE datname = current_database()),
  pg_relation_filenode('journal_comparison'), extract(epoch FROM pg_postmaster_start_time()))`;

/** Reads whether the database has all that the journal has. */
export async function readJournalComparison(db: Db): Promise<JournalComparison> {
  const rows = await queryRows<JournalComparison>(
    db,
    `SELECT ${SERVER} AS server, server IS NOT NULL AS "isStarted",
       server IS NOT DISTINCT FROM ${SERVER} AS "isCurrent", missing
     FROM journal_comparison`,
  );
  const [row] = rows;
  if (!row) throw new Error('the table journal_comparison has no row: run `./orgwallet db migrate`');
  return row;
}
