import type { Db } from '../../db/database';
import { type JournalComparison, SERVER } from '../../db/journalComparison';
import { execute } from '../../db/rows';

/** Records, as the signer, what a server lacks. False where the connection leads to another one by now. */
export async function recordJournalComparison(
  db: Db,
  { server, missing }: Pick<JournalComparison, 'server' | 'missing'>,
): Promise<boolean> {
  const recorded = await execute(
    db,
    `UPDATE journal_comparison SET server = ?, missing = ?, compared_at = now() WHERE ${SERVER} = ?`,
    [server, missing, server],
  );
  return recorded === 1;
}
