import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { Hex } from 'viem';
import { textHash } from '../chain/keccak';
import type { Keystore } from '../chain/keys';
import { listAuthorizations } from '../db/authorizations';
import type { Db } from '../db/database';
import { readInstallationId } from '../db/installation';
import { listSeals } from '../db/seals';
import { canonicalJson } from '../domain/canonicalJson';
import { JournalError, type UpkeepEntry } from '../signer/journal/entries';
import { assertInstallation } from '../signer/journal/installationJournal';
import { type JournalReader, readJournal } from '../signer/journal/journalReader';
import { journalDifference } from './journalDifference';
import { type AuthorizationLine, type HeadLine, signLine, type UpkeepLine } from './lines';

/** What a proof needs: the signer's login, its keys, and the file of its journal. */
interface ProofSource {
  readonly db: Db;
  readonly keystore: Pick<Keystore, 'sealKey'>;
  readonly journalFile: string;
}

/** What the tables show of an organization at one moment. */
async function readShown(db: Db, organizationId: string) {
  // A transaction that sees everything as it is when it begins.
  return db.transaction(
    async (tx) => ({
      organizationId,
      seals: await listSeals(tx, organizationId, { after: -1 }),
      authorizations: await listAuthorizations(tx, organizationId),
    }),
    { isolationLevel: 'repeatable read' },
  );
}

/** A journal as it is now. Throws JournalError where there is none, or one of another installation. */
async function openOwn({ db, journalFile }: ProofSource): Promise<JournalReader> {
  if (!existsSync(journalFile)) {
    throw new JournalError(`${journalFile}: journal not found: a proof is written where the signer runs`);
  }
  const journal = await readJournal(journalFile);
  assertInstallation(journal, { installationId: await readInstallationId(db), hasAuthorizations: true });
  return journal;
}

/** An authorization, and an outcome, is in the tables a moment before it is in the journal. */
const MAX_READINGS = 3;
const READING_PAUSE_MS = 100;

/**
 * What the tables show of an organization, where the journal has each authorization as it is: what somebody has changed
 * or deleted in the tables is not signed. Throws JournalError.
 */
async function readJournaled(source: ProofSource, organizationId: string) {
  const { db } = source;
  let difference: string | undefined;
  for (let reading = 1; reading <= MAX_READINGS; reading += 1) {
    const shown = await readShown(db, organizationId);
    const latest = shown.seals.at(-1);
    if (!latest) return undefined;
    const journal = await openOwn(source);
    let upkeep: readonly UpkeepEntry[];
    try {
      upkeep = journal.upkeep().filter((entry) => entry.organizationId === organizationId);
      difference = await journalDifference(journal, shown, () => readShown(db, organizationId));
    } finally {
      await journal.close();
    }
    if (difference === undefined) return { ...shown, latest, upkeep };
    await setTimeout(READING_PAUSE_MS);
  }
  throw new JournalError(
    `the tables of ${organizationId} differ from the journal: ${difference}; nothing is signed: see "A proof is refused" in docs/runbook.md`,
  );
}

/**
 * Writes the proof of an organization, line by line: its genesis, every decision, every authorization with its outcome,
 * what keeps the admins' Safe, and a head that is signed now. Returns its text; undefined where no genesis is admitted. Throws JournalError where the
 * tables differ from the journal.
 */
export async function exportProof(
  source: ProofSource,
  organizationId: string,
): Promise<{ readonly text: string; readonly head: HeadLine } | undefined> {
  const shown = await readJournaled(source, organizationId);
  if (!shown) return undefined;
  const { seals, authorizations, latest, upkeep } = shown;
  const sealKey = source.keystore.sealKey(organizationId);
  const sign = (hash: Hex) => sealKey.sign({ hash });
  const lines: string[] = [];
  const add = (line: object) => lines.push(`${canonicalJson(line)}\n`);
  for (const { body, hash, signature } of seals) add({ type: 'seal', body, hash, signature });
  for (const authorization of authorizations) {
    const line: AuthorizationLine = { type: 'authorization', ...authorization };
    add(await signLine(sign, line));
  }
  for (const { organizationId: _, ...entry } of upkeep) {
    const line: UpkeepLine = entry;
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
