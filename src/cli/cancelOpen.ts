import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { inFlightAuthorizations, withoutDecided } from '../db/authorizations';
import type { Db } from '../db/database';
import type { TransactionRef } from '../domain/transaction';
import { mapLimit } from '../mapLimit';
import { readJournal } from '../signer/journal/journalReader';
import type { MessageOutcome } from '../temporal/approvalMessages';
import { TemporalUnavailable } from '../temporal/client';
import { problemText } from './problems';

/** What became of the request to cancel one transaction; `refusal`: why it is not cancelled. */
export interface Cancellation {
  readonly id: string;
  readonly refusal: string | null;
}

/** How requests that cannot be delivered are repeated. */
interface Repeating {
  /** For how long each is repeated, in milliseconds. */
  readonly forMs: number;
  readonly pauseMs: number;
}

const REPEATING: Repeating = { forMs: 4_000, pauseMs: 500 };
const AT_ONCE = 16;
const GONE = 'its workflow is not running: repeat the command in a minute';

type Asked = Cancellation & { readonly isDelivered: boolean };

async function askOnce(id: string, ask: () => Promise<MessageOutcome>): Promise<Asked> {
  try {
    const outcome = await ask();
    if ('workflowClosed' in outcome) return { id, refusal: GONE, isDelivered: false };
    return { id, refusal: outcome.ok ? null : outcome.refusal.message, isDelivered: true };
  } catch (error) {
    return { id, refusal: problemText(error), isDelivered: !(error instanceof TemporalUnavailable) };
  }
}

/**
 * Asks for the cancellation of each transaction, in this order. A request that cannot be delivered is repeated for a while,
 * and once more when all others are asked. Never rejects; `report` gets each that is not cancelled in the end.
 */
export async function askEach(
  refs: readonly TransactionRef[],
  ask: (ref: TransactionRef) => Promise<MessageOutcome>,
  report: (cancellation: Cancellation) => void,
  { forMs, pauseMs }: Repeating = REPEATING,
): Promise<Cancellation[]> {
  const done = new Map<string, Asked>();
  await mapLimit(AT_ONCE, refs, async (ref) => {
    const { transactionId: id } = ref;
    const end = performance.now() + forMs;
    let asked = await askOnce(id, () => ask(ref));
    while (!asked.isDelivered && performance.now() < end) {
      await sleep(pauseMs);
      asked = await askOnce(id, () => ask(ref));
    }
    done.set(id, asked);
  });
  const undelivered = refs.filter(({ transactionId }) => done.get(transactionId)?.isDelivered === false);
  await mapLimit(AT_ONCE, undelivered, async (ref) => {
    done.set(ref.transactionId, await askOnce(ref.transactionId, () => ask(ref)));
  });
  return refs.map(({ transactionId: id }) => {
    const cancellation = { id, refusal: done.get(id)?.refusal ?? null };
    if (cancellation.refusal !== null) report(cancellation);
    return cancellation;
  });
}

/** The transactions that the journal has as authorized and undecided, the newest first, and those that it has as decided. */
async function readAuthorized(file: string, organizationId: string | undefined) {
  const undecided: TransactionRef[] = [];
  const decided = new Set<string>();
  if (!existsSync(file)) return { undecided, decided };
  const journal = await readJournal(file);
  try {
    for (const { transactionId, organizationId: of } of journal.authorizations()) {
      if (organizationId !== undefined && of !== organizationId) continue;
      if (journal.outcomeOf(transactionId)?.outcome) decided.add(transactionId);
      else undecided.push({ organizationId: of, transactionId });
    }
  } finally {
    await journal.close();
  }
  return { undecided: undecided.reverse(), decided };
}

/**
 * The transactions that are authorized and undecided: those in the database, newest first, then those that only the journal
 * has. One is decided when the signer has its outcome in the journal, or the chain worker has recorded it in the database.
 */
export async function findInFlight(
  db: Db,
  {
    journalFile,
    organizationId,
  }: { readonly journalFile: string; readonly organizationId: string | undefined },
): Promise<TransactionRef[]> {
  const known = await inFlightAuthorizations(db, organizationId);
  const { undecided, decided } = await readAuthorized(journalFile, organizationId);
  const listed = new Set(known.map(({ transactionId }) => transactionId));
  const others = undecided.filter(({ transactionId }) => !listed.has(transactionId));
  const inFlight = known.filter(({ transactionId }) => !decided.has(transactionId));
  return [...inFlight, ...(await withoutDecided(db, others))];
}
