import { existsSync } from 'node:fs';
import { allAuthorizations, hasAuthorizations } from '../../db/authorizations';
import type { Db } from '../../db/database';
import { activeFreezes } from '../../db/freezes';
import { readInstallationId } from '../../db/installation';
import { type JournalReader, readJournal } from '../../journal/journal';
import { assertInstallation } from '../../journal/ofInstallation';
import { count } from '../text';
import { type Finding, fail, ok, warn } from './finding';

const RESTORE = 'see the runbook: the database was rolled back';
const SHOWN = 3;

/** What the journal and the table authorizations say about each other, in words. */
async function differences(journal: JournalReader, db: Db): Promise<{ behind: string[]; ahead: string[] }> {
  // What is authorized meanwhile is in the database first.
  const known = [...journal.authorizations()];
  const stored = new Map<string, string>();
  for await (const page of allAuthorizations(db)) {
    for (const { transactionId, safeTxHash } of page) stored.set(transactionId, safeTxHash);
  }
  const behind = known.filter(({ transactionId, safeTxHash }) => stored.get(transactionId) !== safeTxHash);
  const ahead = [...stored.keys()].filter((id) => !journal.authorizationOf(id));
  return { behind: behind.map(({ transactionId }) => transactionId), ahead };
}

function shown(ids: readonly string[]): string {
  return `${ids.slice(0, SHOWN).join(', ')}${ids.length > SHOWN ? ', …' : ''}`;
}

/** What is frozen, by the records in the database. */
export async function checkFreezes(db: Db): Promise<Finding[]> {
  return (await activeFreezes(db)).map(({ organizationId, since }) =>
    warn(
      'frozen',
      `${organizationId ?? 'every organization'} since ${since.toISOString()}`,
      `npx orgwallet unfreeze${organizationId === null ? '' : ` --org ${organizationId}`}, on the host of the signer`,
    ),
  );
}

/** Compares the journal with the database: what only the journal knows was lost there. */
export async function checkJournal(file: string, db: Db): Promise<Finding[]> {
  if (!existsSync(file)) {
    if (!(await hasAuthorizations(db))) return [ok('journal', 'none yet, and nothing is authorized')];
    return [warn('journal', `${file} not found here`, 'run doctor where the signer runs')];
  }
  const journal = await readJournal(file);
  try {
    assertInstallation(journal, { installationId: await readInstallationId(db), hasAuthorizations: true });
    const { behind, ahead } = await differences(journal, db);
    if (behind.length > 0) {
      const those = count(behind.length, 'authorization', 'authorizations');
      return [fail('journal', `the database lacks ${those} of the journal: ${shown(behind)}`, RESTORE)];
    }
    if (ahead.length > 0) {
      const those = count(ahead.length, 'authorization is', 'authorizations are');
      return [warn('journal', `${those} not in the journal yet: ${shown(ahead)}`, RESTORE)];
    }
    return [ok('journal', `${count(journal.lines(), 'line', 'lines')}, and the database has all of it`)];
  } finally {
    await journal.close();
  }
}
