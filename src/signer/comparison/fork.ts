import { isUnknownPosition, type JournalPosition } from '../../domain/signerLease';
import { COMPLETING } from '../journal/databaseLease';
import { JournalError } from '../journal/entries';
import type { JournalReader } from '../journal/journalReader';
import type { Missing } from './compareJournal';
import { lackText, lost } from './lack';

/** Whether a journal has fewer lines than the database says that the signer has written. */
export function isShorter(journal: Pick<JournalReader, 'lines'>, stored: JournalPosition): boolean {
  return journal.lines() < stored.lines;
}

/** What the database knows of later lines than those of a journal; undefined: nothing. `signed`: of `signedOutside`. */
function laterText(
  journal: JournalReader,
  stored: JournalPosition,
  signed: readonly string[],
): string | undefined {
  if (isUnknownPosition(stored)) {
    return signed.length === 0 ? undefined : `shows ${signed[0]} signed, which is not in this journal`;
  }
  // Where completing was broken off, what is missing is written back afterwards.
  if (!isShorter(journal, stored) || stored.hash === COMPLETING.hash) return undefined;
  return `knows that the signer has written ${stored.lines} lines, of which this journal has ${journal.lines()}`;
}

/**
 * Throws JournalError for a journal that has forked: the database knows of later lines, and so had all of its earlier ones.
 * `signed`: ids of the transactions that are signed in the database, and not in the journal.
 */
export function assertNotForked(
  journal: JournalReader,
  stored: JournalPosition,
  { missing, signed }: { readonly missing: Missing; readonly signed: readonly string[] },
): void {
  const lack = lackText(lost(missing));
  const later = laterText(journal, stored, signed);
  if (lack === undefined || later === undefined) return;
  throw new JournalError(
    `${journal.file}: ${lack}, and ${later}: it has forked, or the database was changed. It is not completed: see "The journal is lost" in docs/runbook.md`,
  );
}
