import type { JournalPosition } from '../../domain/signerLease';
import { COMPLETING } from '../journal/databaseLease';
import { JournalError } from '../journal/entries';
import type { JournalReader } from '../journal/journalReader';
import type { Missing } from './compareJournal';
import { lackText, lost } from './lack';

/** Whether a journal has fewer lines than the database says that the signer has written. */
export function isShorter(journal: Pick<JournalReader, 'lines'>, stored: JournalPosition): boolean {
  return journal.lines() < stored.lines;
}

/**
 * Throws JournalError for a shorter journal that has forked: the database knows its later lines, and so had all of its
 * earlier ones.
 */
export function assertNotForked(journal: JournalReader, stored: JournalPosition, missing: Missing): void {
  // Where completing was broken off, what is missing is written back afterwards.
  if (!isShorter(journal, stored) || stored.lines === COMPLETING.lines) return;
  const lack = lackText(lost(missing));
  if (lack === undefined) return;
  throw new JournalError(
    `${journal.file}: ${lack}, and knows that the signer has written ${stored.lines} lines, of which this journal has ${journal.lines()}: it has forked, or the database was changed. It is not completed: see "The journal is lost" in docs/runbook.md`,
  );
}
