import { auditUnknownExecution } from '../../approvals/unknownExecution';
import type { SigningKeys } from '../../chain/keys';
import type { Db, Tx } from '../../db/database';
import { OPERATOR } from '../../domain/actor';
import type { Missing } from '../comparison/compareJournal';
import type { UnknownExecutionEntry } from '../journal/entries';
import type { JournalReader } from '../journal/journalReader';
import { recordFreeze } from '../store/freezeRecords';
import { insertUnknownExecution } from '../store/unknownExecutionRecords';
import { provideUpkeep } from '../store/upkeep';
import { writeSeals } from './writeSeals';
import { writeTransactions } from './writeTransactions';

/** Records an execution that nobody here has authorized: later transactions of its account follow it. */
async function writeUnknown(tx: Tx, entry: UnknownExecutionEntry): Promise<void> {
  const execution = { ...entry, safeNonce: BigInt(entry.safeNonce) };
  await insertUnknownExecution(tx, execution);
  await auditUnknownExecution(tx, execution, OPERATOR);
}

/**
 * Writes what a database has lost back from the journal, in one transaction. `db` has the login of the owner of the
 * tables. Nothing is executed by it: the executions continue when the service runs. Throws JournalError.
 */
export async function writeBack(
  { db, journal, keystore }: { db: Db; journal: JournalReader; keystore: Pick<SigningKeys, 'sealKey'> },
  missing: Missing,
): Promise<void> {
  await db.transaction(async (tx) => {
    for (const [organizationId, entries] of missing.seals) {
      await writeSeals(tx, { keystore }, organizationId, entries);
    }
    await writeTransactions(tx, journal, missing);
    for (const entry of missing.upkeep) await provideUpkeep(tx, entry);
    for (const entry of missing.unknownExecutions) await writeUnknown(tx, entry);
    for (const freeze of missing.freezes) await recordFreeze(tx, freeze);
  });
}
