import type { Hex } from 'viem';
import type { Keystore } from '../chain/keys';
import { textHash } from '../chain/seals';
import { listAuthorizations } from '../db/authorizations';
import type { Db } from '../db/database';
import { listSeals } from '../db/seals';
import { canonicalJson } from '../domain/canonicalJson';
import { JournalError } from '../journal/entries';
import { readJournal } from '../journal/journal';
import { journalDifference } from './journaled';
import { type AuthorizationLine, type HeadLine, signLine } from './lines';

/** What a proof needs: the signer's login, its keys, and the file of its journal. */
export interface ProofSource {
  readonly db: Db;
  readonly keystore: Pick<Keystore, 'sealKey'>;
  readonly journalFile: string;
}

/** What the tables show of an organization at one moment. */
async function readShown(db: Db, organizationId: string) {
  // A transaction that sees everything as it is when it begins.
  return db.transaction(
    async (tx) => ({
      seals: await listSeals(tx, organizationId, { after: -1 }),
      authorizations: await listAuthorizations(tx, organizationId),
    }),
    { isolationLevel: 'repeatable read' },
  );
}

/** While something is being signed, tables and journal differ for a moment. */
const MAX_READINGS = 3;

/**
 * What the tables show of an organization, where the journal has all of it and nothing more: what somebody has changed
 * or deleted in the tables is not signed. Throws JournalError.
 */
async function readJournaled({ db, journalFile }: ProofSource, organizationId: string) {
  for (let reading = 1; ; reading += 1) {
    const { seals, authorizations } = await readShown(db, organizationId);
    const latest = seals.at(-1);
    if (!latest) return undefined;
    const journal = await readJournal(journalFile);
    try {
      const difference = await journalDifference(journal, { organizationId, seals, authorizations });
      if (difference === undefined) return { seals, authorizations, latest };
      if (reading === MAX_READINGS) {
        throw new JournalError(
          `the tables of ${organizationId} differ from the journal: ${difference}; nothing is signed. Run it again, then \`npx orgwallet doctor\``,
        );
      }
    } finally {
      await journal.close();
    }
  }
}

/**
 * Writes the proof of an organization, line by line: its genesis, every decision, every authorization with its outcome,
 * and a head that is signed now. Returns its text; undefined where no genesis is admitted. Throws JournalError where the
 * tables differ from the journal.
 */
export async function exportProof(
  source: ProofSource,
  organizationId: string,
): Promise<{ readonly text: string; readonly head: HeadLine } | undefined> {
  const shown = await readJournaled(source, organizationId);
  if (!shown) return undefined;
  const { seals, authorizations, latest } = shown;
  const sealKey = source.keystore.sealKey(organizationId);
  const sign = (hash: Hex) => sealKey.sign({ hash });
  const lines: string[] = [];
  const add = (line: object) => lines.push(`${canonicalJson(line)}\n`);
  for (const { body, hash, signature } of seals) add({ type: 'seal', body, hash, signature });
  for (const authorization of authorizations) {
    const line: AuthorizationLine = { type: 'authorization', ...authorization };
    add(await signLine(sign, line));
  }
  const head: HeadLine = {
    type: 'head',
    organizationId,
    sequence: latest.sequence,
    lines: lines.length,
    hash: textHash(lines.join('')),
    at: new Date().toISOString(),
  };
  add(await signLine(sign, head));
  return { text: lines.join(''), head };
}
