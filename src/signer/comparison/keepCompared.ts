import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../db/database';
import { type JournalComparison, readJournalComparison } from '../../db/journalComparison';
import { createLastingFailure } from '../../lastingFailure';
import type { Logger } from '../../logging';
import { JournalError } from '../journal/entries';
import type { JournalReader } from '../journal/journalReader';
import { recordJournalComparison } from '../store/comparisonRecord';
import { compareJournal } from './compareJournal';
import { lackText, lost } from './lack';

const LOOK_MS = 2_000;
/** What is missing may have been written back. */
const COMPARE_AGAIN_MS = 5_000;

/** The comparison of a database with the journal, for as long as the signer runs. */
export interface KeptComparison {
  /** Has it compared again: the database may have lost commits without a new start of its server. */
  again(): void;
  stop(): Promise<void>;
}

/** What a database lacks of what was decided and authorized; null: nothing. */
async function missingIn(journal: JournalReader, db: Db): Promise<string | null> {
  try {
    const { missing } = await compareJournal(journal, db);
    return lackText(lost(missing)) ?? null;
  } catch (error) {
    if (error instanceof JournalError) return error.message;
    throw error;
  }
}

/** Compares the database with the journal after each start of its server, and records for the API what it lacks. */
export function keepCompared({
  db,
  journal,
  logger,
  failureLastsMs,
}: {
  readonly db: Db;
  readonly journal: JournalReader;
  readonly logger: Logger;
  /** After so long a failure is an error; absent: a minute. */
  readonly failureLastsMs?: number;
}): KeptComparison {
  const stopped = new AbortController();
  const { signal } = stopped;
  const failure = createLastingFailure(logger, 'the database cannot be compared with the journal', {
    ...(failureLastsMs === undefined ? {} : { lastsMs: failureLastsMs }),
  });
  /** How often it was asked for, and how many of those a recorded comparison came after. */
  let asked = 0;
  let answered = 0;
  let comparedAt = Number.NEGATIVE_INFINITY;
  let known: string | null = null;

  function isDue({ isCurrent, missing }: JournalComparison): boolean {
    if (!isCurrent || answered < asked) return true;
    return missing !== null && performance.now() - comparedAt >= COMPARE_AGAIN_MS;
  }

  function note(missing: string | null): void {
    if (missing !== null && missing !== known) {
      logger.error(
        { missing },
        'the database was rolled back: the API refuses every request (see the runbook)',
      );
    }
    if (missing === null && known !== null) logger.info('the database has all of the journal again');
    known = missing;
  }

  async function look(): Promise<void> {
    const before = await readJournalComparison(db);
    if (!isDue(before)) return;
    const answering = asked;
    comparedAt = performance.now();
    const { server } = before;
    const missing = await missingIn(journal, db);
    if (!(await recordJournalComparison(db, { server, missing }))) return;
    answered = answering;
    note(missing);
  }

  async function keep(): Promise<void> {
    while (!signal.aborted) {
      await look().then(failure.succeeded, failure.failed);
      await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  const keeping = keep();
  return {
    again() {
      asked += 1;
    },
    async stop() {
      stopped.abort();
      await keeping;
    },
  };
}
