import { existsSync } from 'node:fs';
import { JournalError } from './entries';
import { type Journal, type OpenJournal, openJournal } from './journal';
import type { JournalReader } from './journalReader';

/** The database that a journal belongs to. */
interface JournalInstallation {
  readonly installationId: string;
  /** Whether it has authorizations: then its journal exists. */
  readonly hasAuthorizations: boolean;
}

/** Throws JournalError for a journal of another database. */
export function assertInstallation(journal: JournalReader, { installationId }: JournalInstallation): void {
  const found = journal.installationId();
  if (found === undefined || found === installationId) return;
  throw new JournalError(
    `${journal.file}: the journal belongs to installation ${found}, and the database is installation ${installationId}: correct JOURNAL_FILE or SIGNER_DATABASE_URL`,
  );
}

/** Throws JournalError where a journal is missing whose database has authorizations. */
function assertPresent({ hasAuthorizations }: JournalInstallation, file: string, lines: number): void {
  if (lines > 0 || !hasAuthorizations) return;
  throw new JournalError(
    `${file}: journal not found, and the database has authorizations. Restore it from its backup (JOURNAL_FILE), or make it anew: \`./orgwallet signer reconcile-restore --new-journal\`; see docs/runbook.md`,
  );
}

/**
 * Opens the journal of an installation to write it; creates it while nothing was ever authorized, or where `anew` is
 * true. Throws JournalError when it is missing, damaged, held by another process, or of another installation.
 */
export async function openJournalOf(
  of: JournalInstallation,
  { anew = false, ...options }: OpenJournal & { readonly anew?: boolean },
): Promise<Journal> {
  if (!anew && !existsSync(options.file)) assertPresent(of, options.file, 0);
  const journal = await openJournal(options);
  try {
    if (!anew) assertPresent(of, options.file, journal.lines());
    assertInstallation(journal, of);
    if (journal.lines() === 0) await journal.append({ type: 'created', installationId: of.installationId });
    return journal;
  } catch (error) {
    await journal.close();
    throw error;
  }
}
