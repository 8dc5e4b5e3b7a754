import { randomUUID } from 'node:crypto';
import type { Db } from '../../db/database';
import type { RecordedFreeze } from '../../db/freezes';
import { listSeals } from '../../db/seals';
import {
  JournalError,
  type OutcomeEntry,
  type SealEntry,
  type UnknownExecutionEntry,
  type UpkeepEntry,
} from '../journal/entries';
import type { IndexedAuthorization } from '../journal/journalIndex';
import type { JournalReader } from '../journal/journalReader';
import { cancelledTransactions, rejectedTransactions, sealedSequences } from '../store/compared';
import { activeFreezes } from '../store/freezeRecords';
import { storedHashes } from '../store/signedAttempts';
import { type AuthorizationKey, allAuthorizations } from '../store/signedAuthorizations';
import { listUnknownExecutions } from '../store/unknownExecutionRecords';
import { isDecided } from './signedOutside';

/** What the journal has and the database lacks, each in the order of the journal. */
export interface Missing {
  /** The decisions of each organization, from its genesis where that is missing too. */
  readonly seals: ReadonlyMap<string, readonly SealEntry[]>;
  readonly authorizations: readonly IndexedAuthorization[];
  /** Ids of transactions. */
  readonly rejections: readonly string[];
  readonly cancellations: readonly string[];
  readonly outcomes: readonly OutcomeEntry[];
  readonly unknownExecutions: readonly UnknownExecutionEntry[];
  readonly freezes: readonly RecordedFreeze[];
  /** What was signed to keep the admins' Safes. */
  readonly upkeep: readonly UpkeepEntry[];
}

/** A nonce of an account, as the journal and the database write it. */
type AccountNonceText = Pick<UnknownExecutionEntry, 'accountId' | 'networkId'> & {
  readonly safeNonce: string | bigint;
};

const OTHER_HISTORY = 'they are not of the same history, and nothing can be written back';

/** Whether a database has all that the journal has. */
export function isComplete({ seals, ...lists }: Missing): boolean {
  return seals.size === 0 && Object.values(lists).every(({ length }) => length === 0);
}

/** The decisions of an organization after a sequence. Throws JournalError where the journal lacks one. */
async function sealsAfter(
  journal: JournalReader,
  organizationId: string,
  sequence: number,
): Promise<SealEntry[]> {
  const entries: SealEntry[] = [];
  const latest = journal.latestSealed(organizationId)?.sequence ?? -1;
  for (let next = sequence + 1; next <= latest; next += 1) {
    const entry = await journal.seal(organizationId, next);
    if (!entry)
      throw new JournalError(`the journal lacks decision ${next} of organization ${organizationId}`);
    entries.push(entry);
  }
  return entries;
}

/** Throws JournalError where a decision in the database is another one than in the journal. */
async function assertSameSeal(
  journal: JournalReader,
  db: Db,
  organizationId: string,
  sequence: number,
): Promise<void> {
  const known = await journal.seal(organizationId, sequence);
  if (!known) return;
  const [own] = await listSeals(db, organizationId, { after: sequence - 1, upTo: sequence });
  if (known.hash === own?.hash) return;
  throw new JournalError(
    `decision ${sequence} of organization ${organizationId} is ${known.hash} in the journal, and ${own?.hash ?? 'missing'} in the database: ${OTHER_HISTORY}`,
  );
}

/** Throws JournalError where a nonce of an account has another transaction in the database than in the journal. */
function assertSameNonce(journal: JournalReader, one: AuthorizationKey): void {
  const { transactionId, accountId, networkId, safeNonce } = one;
  const taken = journal.takenAt(one);
  if (!taken || taken.transactionId === transactionId) return;
  if (taken.transactionId === null && !taken.isUpkeep) return;
  throw new JournalError(
    `nonce ${safeNonce} of account ${accountId} on network ${networkId} is of ${taken.transactionId ?? "the admins' Safe"} in line ${taken.line} of the journal, and of ${transactionId} in the database: ${OTHER_HISTORY}`,
  );
}

async function missingSeals(journal: JournalReader, db: Db): Promise<Missing['seals']> {
  const stored = await sealedSequences(db);
  const missing = new Map<string, SealEntry[]>();
  for (const organizationId of journal.organizationIds()) {
    const sequence = stored.get(organizationId) ?? -1;
    await assertSameSeal(journal, db, organizationId, sequence);
    const entries = await sealsAfter(journal, organizationId, sequence);
    if (entries.length > 0) missing.set(organizationId, entries);
  }
  return missing;
}

/** What is frozen by the journal, and not by the database; and the other way round. */
async function missingFreezes(journal: JournalReader, db: Db): Promise<RecordedFreeze[]> {
  const wanted = journal.activeFreezes();
  const present = await activeFreezes(db);
  const isIn = (list: readonly { readonly organizationId: string | null }[], id: string | null) =>
    list.some(({ organizationId }) => organizationId === id);
  return [
    ...wanted
      .filter(({ organizationId }) => !isIn(present, organizationId))
      .map(({ id, organizationId }) => ({ id, type: 'freeze' as const, organizationId })),
    ...present
      .filter(({ organizationId }) => !isIn(wanted, organizationId))
      .map(({ organizationId }) => ({ id: randomUUID(), type: 'unfreeze' as const, organizationId })),
  ];
}

/** What keeps the admins' Safes that the database has no attempt of. */
async function missingUpkeep(journal: JournalReader, db: Db): Promise<UpkeepEntry[]> {
  const known = journal.upkeep();
  const stored = await storedHashes(
    db,
    known.map(({ safeTxHash }) => safeTxHash),
  );
  return known.filter(({ safeTxHash }) => !stored.has(safeTxHash));
}

/** How a journal and a database differ. */
interface Comparison {
  readonly missing: Missing;
  /** Ids of transactions that the database has decided about and the journal does not know. */
  readonly unjournaled: readonly string[];
}

/**
 * Compares a journal with a database. Throws JournalError where they contradict each other: then the journal is of
 * another history, and nothing can be written back.
 */
export async function compareJournal(journal: JournalReader, db: Db): Promise<Comparison> {
  const stored = new Map<string, Pick<AuthorizationKey, 'safeTxHash' | 'outcome' | 'usedAt'>>();
  for await (const page of allAuthorizations(db)) {
    for (const one of page) {
      const { transactionId, safeTxHash, outcome, usedAt } = one;
      assertSameNonce(journal, one);
      stored.set(transactionId, { safeTxHash, outcome, usedAt });
    }
  }
  const authorizations: IndexedAuthorization[] = [];
  for (const one of journal.authorizations()) {
    const own = stored.get(one.transactionId);
    if (!own) authorizations.push(one);
    else if (own.safeTxHash !== one.safeTxHash) {
      throw new JournalError(
        `transaction ${one.transactionId} is authorized as ${one.safeTxHash} in line ${one.line} of the journal, and as ${own.safeTxHash} in the database: ${OTHER_HISTORY}`,
      );
    }
  }
  const rejected = new Set(await rejectedTransactions(db));
  const cancelled = new Set(await cancelledTransactions(db));
  const nonceOf = ({ accountId, networkId, safeNonce }: AccountNonceText) =>
    `${accountId}/${networkId}/${safeNonce}`;
  const unknown = new Set((await listUnknownExecutions(db)).map(nonceOf));
  const missing = {
    seals: await missingSeals(journal, db),
    authorizations,
    rejections: [...journal.rejectedIds()].filter((id) => !rejected.has(id)),
    // Without an authorization there is no record to write it back to; the journal keeps its nonce taken.
    cancellations: [...journal.cancelledIds()].filter(
      (id) => !cancelled.has(id) && journal.authorizationOf(id) !== undefined,
    ),
    outcomes: [...journal.outcomes()].filter((entry) => {
      const own = stored.get(entry.transactionId);
      const usedAt = entry.outcome === null ? (entry.usedAt ?? null) : null;
      return own && (own.outcome !== entry.outcome || (own.usedAt?.toISOString() ?? null) !== usedAt);
    }),
    unknownExecutions: journal.unknownExecutions().filter((one) => !unknown.has(nonceOf(one))),
    freezes: await missingFreezes(journal, db),
    upkeep: await missingUpkeep(journal, db),
  };
  return {
    missing,
    unjournaled: [...stored.keys(), ...rejected].filter((id) => !isDecided(journal, id)),
  };
}
