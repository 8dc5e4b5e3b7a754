import { existsSync } from 'node:fs';
import { rewrittenAttempts } from '../../db/authorizations';
import type { Db } from '../../db/database';
import { readInstallationId } from '../../db/installation';
import { readJournalComparison } from '../../db/journalComparison';
import { refuseUncompared } from '../../domain/journalComparison';
import { compareJournal } from '../../signer/comparison/compareJournal';
import { lackText, late, lost } from '../../signer/comparison/lack';
import { holderText, positionRefusal } from '../../signer/journal/databaseLease';
import { assertInstallation } from '../../signer/journal/installationJournal';
import { type JournalReader, readJournal } from '../../signer/journal/journalReader';
import { activeFreezes } from '../../signer/store/freezeRecords';
import { hasAuthorizations } from '../../signer/store/signedAuthorizations';
import { readSignerLease } from '../../signer/store/signerLease';
import { count } from '../text';
import { type Finding, fail, firstOf, ok, warn } from './finding';

const RESTORE =
  'stop every process of the service, then, on the host of the signer: ./orgwallet signer reconcile-restore (see the runbook: the database was rolled back)';
const REREAD =
  'run doctor again: the signer may be about to write it. Else stop every process of the service, then, on the host of the signer: ./orgwallet signer reconcile-restore';
const GONE = 'stop the signer; see the runbook: the journal is gone';
const LOST = 'see the runbook: the journal is lost';
const SHOWN = 3;

/** What is frozen, by the records in the database. */
export async function checkFreezes(db: Db): Promise<Finding[]> {
  return (await activeFreezes(db)).map(({ organizationId, since }) =>
    warn(
      'frozen',
      `${organizationId ?? 'every organization'} since ${since.toISOString()}`,
      `./orgwallet unfreeze${organizationId === null ? '' : ` --org ${organizationId}`}, on the host of the signer`,
    ),
  );
}

/** Compares a journal that was read with its database. */
export async function compareFindings(journal: JournalReader, db: Db): Promise<Finding[]> {
  // The journal was read first: what is written meanwhile is in the database too.
  const { missing, unjournaled } = await compareJournal(journal, db);
  const rewritten = await rewrittenAttempts(db, SHOWN);
  if (rewritten.length > 0) {
    const found = `chain_attempts has another call than authorizations: ${firstOf(rewritten, SHOWN)}`;
    return [
      fail(
        'journal',
        found,
        'an owner of the tables has changed them: see "The database was rolled back" in the runbook',
      ),
    ];
  }
  const rolledBack = lackText(lost(missing));
  if (rolledBack) return [fail('journal', rolledBack, RESTORE)];
  const behind = lackText(late(missing));
  if (behind) return [warn('journal', behind, REREAD)];
  if (unjournaled.length > 0) {
    const those = count(unjournaled.length, 'authorization is', 'authorizations are');
    return [warn('journal', `${those} not in the journal yet: ${firstOf(unjournaled, SHOWN)}`, LOST)];
  }
  return [ok('journal', `${count(journal.lines(), 'line', 'lines')}, and the database has all of it`)];
}

/** Compares the journal with the database: what only the journal knows was lost there. */
export async function checkJournal(file: string, db: Db, isHostOfSigner: boolean): Promise<Finding[]> {
  const lease = await readSignerLease(db);
  if (!existsSync(file)) {
    const isNew = lease.position.lines === 0 && !(await hasAuthorizations(db));
    if (isNew) return [ok('journal', 'none yet, and nothing is authorized')];
    const found = `${file} not found here`;
    // Where the keystore is, the journal is beside it.
    return isHostOfSigner
      ? [fail('journal', `${found}: the signer was ${holderText(lease)}`, GONE)]
      : [warn('journal', found, 'run doctor where the signer runs')];
  }
  // Read before the journal, which has all that the database knows of it.
  const journal = await readJournal(file);
  try {
    const refusal = await positionRefusal(journal, lease);
    if (refusal) return [fail('journal', refusal, LOST)];
    assertInstallation(journal, { installationId: await readInstallationId(db), hasAuthorizations: true });
    return await compareFindings(journal, db);
  } finally {
    await journal.close();
  }
}

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
    ok('comparison', comparison.isStarted ? 'the signer has found nothing missing' : 'no signer has run yet'),
  ];
}
