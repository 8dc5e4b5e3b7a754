import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** A journal that a signer has written, with its keystore. */
export interface RecordedJournal {
  /** Its passphrase: `correct horse battery staple`. */
  readonly keystoreFile: string;
  readonly journalFile: string;
  /** The lines of the file, without its end. */
  readonly lines: readonly string[];
}

/**
 * A copy of a recorded journal. `version1` has every type of entry that there was when it was written, `version2` every type and
 * an outcome that nobody could read; both have a payment with more digits than a `number`.
 */
export function recordedJournal(name: string): RecordedJournal {
  const dir = mkdtempSync(join(tmpdir(), 'recorded-journal-'));
  const folder = join(__dirname, name);
  const journal = gunzipSync(readFileSync(join(folder, 'journal.gz')));
  const keystoreFile = join(dir, 'keystore.json');
  const journalFile = join(dir, 'keystore.json.journal');
  writeFileSync(keystoreFile, readFileSync(join(folder, 'keystore.json')), { mode: 0o600 });
  writeFileSync(journalFile, journal, { mode: 0o600 });
  return { keystoreFile, journalFile, lines: journal.toString('utf8').trimEnd().split('\n') };
}
