import type { Db } from '../../db/database';
import { readJournalComparison, refuseUncompared } from '../../db/journalComparison';
import { type Finding, fail, ok } from './finding';

/** Whether the API is closed, because the database may lack what was authorized. */
export async function checkComparison(db: Db): Promise<Finding[]> {
  const comparison = await readJournalComparison(db);
  const refusal = refuseUncompared(comparison);
  if (refusal) {
    const todo =
      'start the signer; where it finds something missing, see "The database was rolled back" in the runbook';
    return [fail('comparison', `the API refuses every request: ${refusal}`, todo)];
  }
  return [
    ok('comparison', comparison.hasBegun ? 'the signer has found nothing missing' : 'no signer has run yet'),
  ];
}
