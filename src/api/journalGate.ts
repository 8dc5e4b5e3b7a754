import { type Db, onConnect } from '../db/database';
import { type JournalComparison, readJournalComparison } from '../db/journalComparison';
import { refuseUncompared } from '../domain/journalComparison';
import { Refused } from './refusals';

/** Who asks within it shares what was read. */
const FRESH_MS = 1_000;
const RETRY_AFTER_SECONDS = 5;

/**
 * Keeps the API closed while the database may lack what the signer has authorized: whoever is told that a payment does not
 * exist pays again.
 */
export interface JournalGate {
  /** Throws the reason, for operators. */
  assertOpen(): Promise<void>;
  /**
   * Throws Refused, for callers. What it returns is asked before the answer is sent: the database may have been replaced
   * meanwhile. Undefined where it cannot.
   */
  admit(): Promise<() => Promise<void> | undefined>;
}

/** Creates the gate of a database. Where it does not answer, the error of the database is thrown. */
export function createJournalGate(db: Db): JournalGate {
  let latest: { readonly at: number; readonly comparison: JournalComparison } | undefined;
  let looking: Promise<JournalComparison> | undefined;

  async function readNow(): Promise<JournalComparison> {
    const at = performance.now();
    const comparison = await readJournalComparison(db);
    latest = { at, comparison };
    return comparison;
  }

  function look(): Promise<JournalComparison> {
    looking ??= readNow().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  async function current(): Promise<JournalComparison> {
    return latest && performance.now() - latest.at < FRESH_MS ? latest.comparison : look();
  }

  // It may lead to another server.
  let opened = 0;
  onConnect(db, () => {
    opened += 1;
    latest = undefined;
  });

  async function assertReliable(): Promise<void> {
    const refusal = refuseUncompared(await current());
    if (refusal === undefined) return;
    throw new Refused(
      { code: 'notReconciled', message: `${refusal}: send the same request again later, with the same key` },
      { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } },
    );
  }

  return {
    async assertOpen() {
      const refusal = refuseUncompared(await look());
      if (refusal) throw new Error(refusal);
    },
    async admit() {
      const before = opened;
      await assertReliable();
      return () => (opened === before ? undefined : assertReliable());
    },
  };
}
