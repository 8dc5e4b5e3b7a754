import type { Address } from 'viem';
import {
  confirmedAt,
  findInOwn,
  headOf,
  isNonceUsed,
  isUnknownExecution,
  outcomeKindOf,
  type SignedAtNonce,
  searchAtNonce,
} from '../../chain/atNonce';
import { assertChainId, type ChainClient, ChainUnavailable } from '../../chain/clients';
import type { Execution } from '../../chain/executions';
import { type Attempt, attemptsOfTransaction, envelopesOf } from '../../db/attempts';
import type { AuthorizationOutcome } from '../../db/authorizations';
import type { Tx } from '../../db/database';
import type { UnknownExecution } from '../../db/unknownExecutions';
import type { TransactionRef } from '../../domain/transaction';
import { assertAccount } from '../account';
import { assertIds } from '../input';
import type { JournalEntry, OutcomeEntry } from '../journal/entries';
import { reportRefusal, SignerRefusal, TemporaryRefusal } from '../refusal';
import { networkOf, type SignerContext, withNetwork } from '../signerContext';
import { decideAuthorizations, type ReadOutcome } from '../store/signedAuthorizations';
import { insertUnknownExecution } from '../store/unknownExecutionRecords';
import { assertAttemptOf, assertCancellation } from './intents';
import { authorizationOf } from './journaled';
import { networkAndPolicyOf, readOnNetwork } from './record';

/** The attempts at the nonce of an authorization, and what the table says of it. */
interface OwnAttempts extends SignedAtNonce {
  readonly transaction: Attempt;
  readonly cancellation: Attempt | undefined;
  readonly signerOutcome: AuthorizationOutcome | null;
}

/** What the signer reads about an authorization from its own endpoints. */
export interface OutcomeReading {
  readonly outcome: NonNullable<OutcomeEntry['outcome']>;
  readonly blockAt: Date;
  /** What used the nonce, where nobody here has authorized it. */
  readonly unknown: Pick<Execution, 'safeTxHash' | 'transactionHash'> | null;
}

/** What became of a transaction; `outcome` is null while the signer's endpoints have not decided it. */
export type ConfirmedOutcome =
  | { readonly outcome: AuthorizationOutcome | null }
  | { readonly unreachable: string };

/**
 * What one endpoint says was executed at the nonce, once it has the network's confirmations; null: nothing yet; `unshown`:
 * the nonce is used, and it does not show by what. `search`: also in the logs, where no transaction of ours has it. Throws
 * ChainUnavailable.
 */
async function outcomeAtEndpoint(
  chain: ChainClient,
  at: SignedAtNonce,
  search: boolean,
): Promise<OutcomeReading | null | 'unshown'> {
  await assertChainId(chain);
  const head = await headOf(chain);
  const own = await findInOwn(chain, at);
  const isUsed = own !== null || (await isNonceUsed(chain, at));
  const execution = own ?? (isUsed && search ? await searchAtNonce(chain, at, head) : null);
  if (!execution) return isUsed ? 'unshown' : null;
  const blockAt = await confirmedAt(chain, execution, head);
  if (!blockAt) return null;
  const { safeTxHash, transactionHash } = execution;
  const unknown = isUnknownExecution(at, execution) ? { safeTxHash, transactionHash } : null;
  return { outcome: outcomeKindOf(at, execution), blockAt, unknown };
}

/** Whether two endpoints say the same. */
export function isSameReading(
  one: Pick<OutcomeReading, 'outcome' | 'blockAt'> | null | undefined,
  other: Pick<OutcomeReading, 'outcome' | 'blockAt'>,
): boolean {
  return one?.outcome === other.outcome && one.blockAt.getTime() === other.blockAt.getTime();
}

/**
 * What all endpoints of the signer say, or what is recorded where some do not show it and the others say the same;
 * `unshown`: the nonce is used, and none of them shows by what. Throws ChainUnavailable, also where they disagree, or there
 * is none.
 */
async function readOutcome(
  context: SignerContext,
  at: OwnAttempts,
  { recorded, search }: { readonly recorded: OutcomeReading | null; readonly search: boolean },
): Promise<OutcomeReading | null | 'unshown'> {
  const { networkId, transactionId } = at.transaction;
  const network = networkOf(context, networkId);
  const chains = context.endpointsOf(network);
  const shown = await Promise.all(chains.map((chain) => outcomeAtEndpoint(chain, at, search)));
  const said = shown.filter((one) => one !== 'unshown');
  if (recorded && said.length < shown.length && said.every((one) => isSameReading(one, recorded)))
    return recorded;
  const decisions = shown.map((one) => (one === 'unshown' ? null : one));
  const [first] = decisions;
  if (first === undefined) {
    throw new ChainUnavailable(network, 'it has no signerRpcUrls, so the signer cannot read outcomes');
  }
  const texts = new Set((recorded ? shown : decisions).map((one) => JSON.stringify(one)));
  if (texts.size > 1) {
    throw new ChainUnavailable(network, `its signerRpcUrls disagree about ${transactionId}`);
  }
  return search && shown.every((one) => one === 'unshown') ? 'unshown' : first;
}

const UNDECIDED = { outcome: null, usedAt: null } as const;

function outcomeEntry({ organizationId, transactionId }: TransactionRef, read: ReadOutcome): OutcomeEntry {
  const of = { type: 'outcome', organizationId, transactionId } as const;
  if (read.outcome !== null) return { ...of, outcome: read.outcome, blockAt: read.blockAt.toISOString() };
  const used = read.usedAt === null ? {} : { usedAt: read.usedAt.toISOString() };
  return { ...of, outcome: null, blockAt: null, ...used };
}

/** Whether an entry says what was read; no entry says that it is undecided. */
function says(entry: OutcomeEntry | undefined, read: OutcomeEntry): boolean {
  const { outcome, blockAt } = entry ?? { outcome: null, blockAt: null };
  const usedAt = entry?.outcome === null ? entry.usedAt : undefined;
  return (
    outcome === read.outcome &&
    blockAt === read.blockAt &&
    usedAt === (read.outcome === null ? read.usedAt : undefined)
  );
}

/** The entries of what was read that the journal has not; unknown executions before what they decide. */
function newEntries(
  { journal }: Pick<SignerContext, 'journal'>,
  all: readonly RecordedOutcome[],
): JournalEntry[] {
  const known = new Set(journal.unknownExecutions().map(({ safeTxHash }) => safeTxHash));
  return all.flatMap(({ ref, read, unknown }) => {
    const entry = outcomeEntry(ref, read);
    return [
      ...(unknown && !known.has(unknown.safeTxHash)
        ? [{ type: 'unknownExecution' as const, ...unknown, safeNonce: String(unknown.safeNonce) }]
        : []),
      ...(says(journal.outcomeOf(ref.transactionId), entry) ? [] : [entry]),
    ];
  });
}

/** What was read about one authorization. */
export interface RecordedOutcome {
  readonly ref: TransactionRef;
  readonly read: ReadOutcome;
  /** What used its nonce, where nobody here has authorized it. */
  readonly unknown?: UnknownExecution | undefined;
}

/** Stores what was read in the rows of authorizations; the journal has it once that is committed. */
async function storeRead(tx: Tx, all: readonly RecordedOutcome[]): Promise<void> {
  for (const { unknown } of all) if (unknown) await insertUnknownExecution(tx, unknown);
  await decideAuthorizations(
    tx,
    all.map(({ ref: { transactionId }, read }) => ({ transactionId, ...read })),
  );
}

/** Appends to the journal what was read, where it has something else; an unknown execution with an alarm. */
async function journalRead(context: SignerContext, all: readonly RecordedOutcome[]): Promise<void> {
  const entries = newEntries(context, all);
  if (entries.length === 0) return;
  await context.journal.append(...entries);
  for (const entry of entries) {
    if (entry.type !== 'unknownExecution') continue;
    const { safeNonce, safeTxHash, accountId } = entry;
    context.countUnknownExecution();
    context.logger.error(
      entry,
      `nonce ${safeNonce} of account ${accountId} was used by ${safeTxHash}, which this signer has not authorized: see "An outcome is not on chain" in docs/runbook.md`,
    );
  }
}

/** Records in the journal that an authorization is undecided again; for `committed` of `withNetwork`. */
export function journalUndecided(context: SignerContext, ref: TransactionRef): Promise<void> {
  return journalRead(context, [{ ref, read: UNDECIDED }]);
}

/**
 * Records what was read about authorizations of a network: in their rows, and in the journal once that is committed.
 * `current` returns what still holds once the network is locked. Returns that.
 */
export async function recordRead(
  context: SignerContext,
  networkId: number,
  current: () => readonly RecordedOutcome[],
): Promise<readonly RecordedOutcome[]> {
  return withNetwork(
    context,
    networkId,
    async (tx) => {
      const recorded = current();
      if (recorded.length > 0) await storeRead(tx, recorded);
      return recorded;
    },
    {
      committed: async (recorded) => {
        await journalRead(context, recorded);
        for (const { ref, read } of recorded) {
          if (read.outcome !== null) context.lastLooks.delete(ref.transactionId);
        }
      },
    },
  );
}

/**
 * Whether what used a nonce can be called unknown: a cancellation that was journaled after the attempts were read may have
 * used it, and the next look has that one.
 */
function isBelieved(
  { journal }: Pick<SignerContext, 'journal'>,
  { transaction: { transactionId }, cancellation }: OwnAttempts,
): boolean {
  return cancellation !== undefined || !journal.cancellationOf(transactionId);
}

/** The attempts at the nonce of an authorization, as the journal has them. Throws SignerRefusal. */
function readAttempts(context: SignerContext, ref: TransactionRef, networkId: number): Promise<OwnAttempts> {
  return context.db.transaction(async (tx) => {
    const { record } = await readOnNetwork(context, tx, ref, networkId);
    const account = (await assertAccount(context, tx, record)).address as Address;
    const attempts = await attemptsOfTransaction(tx, record.id);
    const transaction = attempts.find(({ kind }) => kind === 'transaction');
    if (!transaction) throw new SignerRefusal('stale', `nothing of transaction ${record.id} is signed`);
    const cancellation = attempts.find(({ kind }) => kind === 'cancellation');
    // Account, network, nonce and hashes decide what was executed.
    assertAttemptOf(record, transaction);
    const known = authorizationOf(context, transaction, account);
    if (!known && !context.journal.cancellationOf(record.id)) {
      throw new SignerRefusal('stale', `nothing of transaction ${record.id} is in the journal`);
    }
    if (cancellation) assertCancellation(cancellation, account, transaction.safeNonce);
    const { signerOutcome } = record;
    const envelopes = await envelopesOf(tx, attempts);
    const { fromBlock } = known ?? transaction;
    return {
      ...{ account, cancellation, envelopes, signerOutcome },
      transaction: { ...transaction, fromBlock },
    };
  });
}

/** What the journal has of an authorization; null while it is undecided. */
function recordedIn(entry: OutcomeEntry | undefined): OutcomeReading | null {
  if (!entry?.outcome) return null;
  return { outcome: entry.outcome, blockAt: new Date(entry.blockAt), unknown: null };
}

/** What was read longer ago than this is read again before it is recorded: the chain may have lost the block. */
export const RECORD_LIMIT_MS = 10_000;
/** How often one look reads, at most. */
const READINGS = 3;

/** What a look has found, as it is recorded; `known`: what the journal has. */
function recordedAs(
  context: SignerContext,
  { transaction }: OwnAttempts,
  observed: OutcomeReading | null | 'unshown',
  known: OutcomeEntry | undefined,
): Omit<RecordedOutcome, 'ref'> {
  if (observed === null) return { read: UNDECIDED };
  if (observed === 'unshown') {
    const seen = known?.outcome === null ? known.usedAt : undefined;
    return { read: { outcome: null, usedAt: seen === undefined ? context.clock.now() : new Date(seen) } };
  }
  const { outcome, blockAt, unknown } = observed;
  const { organizationId, accountId, networkId, safeNonce } = transaction;
  return {
    read: { outcome, blockAt },
    ...(unknown ? { unknown: { organizationId, accountId, networkId, safeNonce, ...unknown } } : {}),
  };
}

/**
 * Reads what became of an authorization, and records it; an outcome is undecided again where the endpoints show that its
 * nonce is not used, or not confirmed, any more. `search`: also in the logs, where no transaction of ours has it. Returns
 * what is recorded then, null while it is undecided. Throws SignerRefusal (TemporaryRefusal when clocks are apart) or
 * ChainUnavailable.
 */
export async function recordOutcome(
  context: SignerContext,
  ref: TransactionRef,
  { search = true }: { readonly search?: boolean } = {},
): Promise<AuthorizationOutcome | null> {
  const { journal } = context;
  // Of nothing else: whoever reaches the queue asks about any id.
  if (journal.authorizationOf(ref.transactionId)) context.lastLooks.set(ref.transactionId, performance.now());
  const { networkId } = await networkAndPolicyOf(context.db, ref);
  for (let reading = 1; reading <= READINGS; reading += 1) {
    const before = journal.outcomeOf(ref.transactionId);
    const recorded = recordedIn(before);
    const at = await readAttempts(context, ref, networkId);
    const observed = await readOutcome(context, at, { recorded, search });
    const readAt = performance.now();
    if (observed !== 'unshown' && observed?.unknown && !isBelieved(context, at)) return null;
    const found = { ref, ...recordedAs(context, at, observed, before) };
    const { outcome } = found.read;
    // Each entry is an object of its own: where it is another one, that was recorded while this read.
    const isCurrent = () => journal.outcomeOf(ref.transactionId) === before;
    if (says(before, outcomeEntry(ref, found.read)) && at.signerOutcome === outcome && isCurrent()) {
      if (outcome !== null) context.lastLooks.delete(ref.transactionId);
      return outcome;
    }
    const isLate = () => !isCurrent() || performance.now() - readAt > RECORD_LIMIT_MS;
    const stored = await recordRead(context, networkId, () => (isLate() ? [] : [found]));
    if (stored.length > 0) return outcome;
  }
  const late = `what became of ${ref.transactionId} could not be recorded in time`;
  throw new ChainUnavailable(networkOf(context, networkId), late);
}

/**
 * Reads from the signer's own endpoints what became of a signed transaction, and records it. Only what the signer has
 * recorded closes a transaction as `failed`, and gives its amount back to the budget.
 */
export async function confirmOutcome(context: SignerContext, ref: TransactionRef): Promise<ConfirmedOutcome> {
  try {
    assertIds(ref, 'organizationId', 'transactionId');
    return { outcome: await recordOutcome(context, ref) };
  } catch (error) {
    if (error instanceof TemporaryRefusal) reportRefusal(context, error.reason, error.message);
    if (error instanceof SignerRefusal) return { unreachable: `the signer refuses: ${error.message}` };
    if (error instanceof ChainUnavailable) return { unreachable: error.message };
    throw error;
  }
}
