import { signedTransaction } from '../../approvals/signedTransaction';
import { verifyVotes } from '../../approvals/verifiedVotes';
import type { AuthorizationOutcome } from '../../db/authorizations';
import type { Tx } from '../../db/database';
import type { StoredTransaction } from '../../db/storedTransactions';
import { replacedIn } from '../../domain/transactionText';
import { usageOf } from '../../transactions/policy';
import type { RejectionEntry } from '../journal/entries';
import type { IndexedAuthorization } from '../journal/journalIndex';
import { ROLLED_BACK, SignerRefusal, TemporaryRefusal } from '../refusal';
import type { SignerContext } from '../signerContext';
import { findAuthorization, insertRejection } from '../store/signedAuthorizations';
import { readUnsealedTransaction } from '../store/transactionsToSign';
import { assertNotAuthorized, rejectionEntries } from './journaled';
import { readSealedTransaction } from './record';
import { canBeSigned } from './sealedTransaction';

/** Most transactions that replace each other and of which none is authorized. */
const MOST_REPLACED = 100;

/**
 * The transactions that a transaction replaces, directly and indirectly, up to one that the journal has: these are not
 * authorized, and the journal does not know yet what they replace, which their initiators have signed. Outside the database
 * transaction, because signatures of contract wallets are verified on chain. Throws SignerRefusal for one that its initiator
 * has not signed, TemporaryRefusal for an endless chain and for one that is being authorized, and ChainUnavailable.
 */
export async function unjournaledReplaced(
  context: SignerContext,
  { id: by, organizationId, replaces }: StoredTransaction,
): Promise<readonly StoredTransaction[]> {
  const { journal, db } = context;
  const found: StoredTransaction[] = [];
  for (let id = replaces; id !== null; id = found.at(-1)?.replaces ?? null) {
    if (journal.authorizationOf(id) || journal.isRejected(id)) break;
    assertNotAuthorized(context, id);
    const seen = await readSealedTransaction(context, db, { organizationId, transactionId: id });
    const isSigned =
      seen?.record.id === id &&
      replacedIn(seen.record.summary) === seen.record.replaces &&
      canBeSigned(seen) &&
      (await verifyVotes(context.identifyVoter, signedTransaction, seen, 'initiator')).length > 0;
    if (!seen || !isSigned) {
      throw new SignerRefusal(
        'stale',
        `transaction ${by} replaces ${id}, and no current initiator has signed what that replaces: create it without replaces`,
      );
    }
    if (found.length >= MOST_REPLACED) {
      throw new TemporaryRefusal('rollback', `what transaction ${by} replaces has no end: ${ROLLED_BACK}`);
    }
    found.push(seen.record);
  }
  return found;
}

/** The other authorized transactions that stand for the same payment; `unjournaled`: of `unjournaledReplaced`. */
export function othersOfPayment(
  { journal }: Pick<SignerContext, 'journal'>,
  { id, replaces }: Pick<StoredTransaction, 'id' | 'replaces'>,
  unjournaled: readonly Pick<StoredTransaction, 'id' | 'replaces'>[],
): readonly IndexedAuthorization[] {
  const all = [{ id, replaces }, ...unjournaled].flatMap((one) => journal.othersOf(one.id, one.replaces));
  return [...new Map(all.map((one) => [one.transactionId, one])).values()].filter(
    ({ transactionId }) => transactionId !== id,
  );
}

/**
 * The outcome of the transaction that another one replaces; null while the table and the journal do not both have it. One
 * that was never authorized is recorded as rejected. Throws SignerRefusal unless it is a failed transaction of the same
 * account, and TemporaryRefusal where only the journal has its authorization.
 */
async function outcomeOfReplaced(
  { journal, pending }: Pick<SignerContext, 'journal' | 'pending'>,
  tx: Tx,
  { id, organizationId, accountId }: StoredTransaction,
  transactionId: string,
): Promise<AuthorizationOutcome | null> {
  const authorized = await findAuthorization(tx, transactionId);
  const isRejected = authorized?.outcome === 'rejected';
  const record =
    authorized && !isRejected
      ? undefined
      : (await readUnsealedTransaction(tx, { organizationId, transactionId }))?.record;
  const isFailed = record?.id === transactionId && record.closed && record.executionStatus === 'failed';
  const failed = isRejected || isFailed ? record : undefined;
  if ((authorized ?? failed)?.accountId !== accountId) {
    throw new SignerRefusal(
      'stale',
      `transaction ${id} replaces ${transactionId}, which is not a failed transaction of account ${accountId}`,
    );
  }
  const outcome = authorized?.outcome ?? null;
  if (failed) {
    assertNotAuthorized({ journal, pending }, transactionId);
    return isRejected ? outcome : insertRejection(tx, usageOf(failed));
  }
  return journal.outcomeOf(transactionId)?.outcome === outcome ? outcome : null;
}

/**
 * Throws while another transaction that stands for the same payment can be executed, by the journal: TemporaryRefusal where it is
 * undecided, SignerRefusal where it was executed.
 */
function assertNoneOther(
  { journal }: Pick<SignerContext, 'journal'>,
  { id }: StoredTransaction,
  others: readonly IndexedAuthorization[],
): void {
  for (const { transactionId } of others) {
    const outcome = journal.outcomeOf(transactionId)?.outcome ?? null;
    const same = `transaction ${id} stands for the same payment as ${transactionId}`;
    if (outcome === 'executed') throw new SignerRefusal('stale', `${same}, which was executed`);
    if (outcome === null) {
      throw new TemporaryRefusal('undecided', `${same}, whose outcome the signer has not read yet`);
    }
  }
}

/**
 * Throws SignerRefusal unless the first transaction that stands for the same payment was requested after the journal was last
 * completed: of an earlier one, nobody knows all that has taken its place. `replaced`: of `unjournaledReplaced`.
 */
function assertChainAfterCutoff(
  { journal }: Pick<SignerContext, 'journal'>,
  record: StoredTransaction,
  replaced: readonly StoredTransaction[],
): void {
  const cutoff = journal.cutoffOf(record.organizationId);
  if (!cutoff) return;
  const last = replaced.at(-1) ?? record;
  const first = journal.paymentOf(last.id, last.replaces);
  const known = journal.authorizationOf(first);
  const expiry = replaced.find(({ id }) => id === first)?.expiresAt ?? journal.expiryOfRejected(first);
  const isAfter = known
    ? known.authorizedAt > cutoff.at
    : expiry !== null && new Date(expiry).getTime() > cutoff.expiresUntil;
  if (isAfter) return;
  throw new SignerRefusal(
    'stale',
    `transaction ${record.id} stands for the same payment as ${first}, which was requested before the signer's journal was lost, and completed at ${new Date(cutoff.at).toISOString()}: look whether anything has paid it, and create it without replaces`,
  );
}

/** What was read of what a transaction replaces, outside of the database transaction. */
export interface ReadBefore {
  readonly unavailable: ReplacedOutcomeUnavailable;
  /** Of `unjournaledReplaced`. */
  readonly replaced: readonly StoredTransaction[];
}

/** Why the outcome of a replaced transaction could not be read now; undefined where it was read. */
export type ReplacedOutcomeUnavailable = TemporaryRefusal | undefined;

/**
 * Throws SignerRefusal unless what a transaction replaces, and all else that stands for the same payment, can never
 * execute, by what the signer itself has read or by a rejection that it records here; and TemporaryRefusal while it has not read
 * that. Returns what is recorded as rejected.
 */
export async function assertReplaceable(
  context: SignerContext,
  tx: Tx,
  record: StoredTransaction,
  { unavailable, replaced }: ReadBefore,
): Promise<readonly RejectionEntry[]> {
  const { id, replaces } = record;
  if (replaces === null) return [];
  assertChainAfterCutoff(context, record, replaced);
  const outcome = await outcomeOfReplaced(context, tx, record, replaces);
  if (unavailable) throw unavailable;
  if (outcome === null) {
    throw new TemporaryRefusal(
      'undecided',
      `transaction ${id} replaces ${replaces}, whose outcome the signer has not read yet`,
    );
  }
  if (outcome === 'executed') {
    throw new SignerRefusal('stale', `transaction ${id} replaces ${replaces}, which was executed`);
  }
  assertNoneOther(context, record, othersOfPayment(context, record, replaced));
  // What was never authorized never will be, and the journal then knows what it replaces.
  const entries: RejectionEntry[] = [];
  for (const one of replaced) {
    if (one.id !== replaces) await outcomeOfReplaced(context, tx, record, one.id);
    entries.push(...(await rejectionEntries(context, tx, one)));
  }
  return entries;
}
