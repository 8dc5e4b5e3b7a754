import type { Address, Hex } from 'viem';
import { checksumAddress } from '../../chain/address';
import { executionGas, gasAfterReverts, MAX_WHOLE_REVERTS } from '../../chain/gas';
import type { SafeTransaction } from '../../chain/safeTransaction';
import { type Attempt, attemptsOfTransaction } from '../../db/attempts';
import type { Tx } from '../../db/database';
import type { StoredTransaction, TransactionSnapshot } from '../../db/storedTransactions';
import { max, min } from '../../domain/bigint';
import type { TransactionTerms } from '../../domain/terms';
import type { TransactionRef } from '../../domain/transaction';
import { failpoint } from '../../failpoints';
import { usageOf } from '../../transactions/policy';
import { accountIn } from '../account';
import type { BoundedTerms } from '../boundedTerms';
import { cutOff } from '../cutoff';
import { assertNotFrozen } from '../frozen';
import { assertIds } from '../input';
import type { AuthorizationEntry } from '../journal/entries';
import type { IndexedAuthorization } from '../journal/journalIndex';
import { refusalsAsValues, SignerRefusal, type SigningResult, TemporaryRefusal } from '../refusal';
import { networkOf, type SignerContext, withNetwork } from '../signerContext';
import { storedNonces } from '../store/signedAttempts';
import { decideAuthorizations, findAuthorizedAt, insertAuthorization } from '../store/signedAuthorizations';
import { assertNotTakenOver } from '../takenOver';
import { assertTakenOver, authorizationEntry } from './authorization';
import { targetOf } from './cancellation';
import { journalUndecided } from './confirmOutcome';
import {
  assertBeingExecuted,
  assertSameContent,
  assertTransactionEvidence,
  refusalByPolicy,
  type Verified,
} from './evidence';
import {
  type DecidingEntry,
  type Intent,
  newAttempt,
  reserveAgain,
  signIntent,
  storeCancellation,
  storedSignable,
  storeFirst,
} from './intents';
import { assertNextNonce, assertNotAuthorized, assertNotRolledBack } from './journaled';
import { type NeededGas, neededGas, requireGas } from './neededGas';
import { readForSigning, readSealed, type SigningSnapshot } from './record';
import { othersOfPayment, unjournaledReplaced } from './replacements';
import { boundTransactionTerms } from './transactionTerms';
import { decideReplaced, readOutcomesOfBudget } from './undecided';
import { verifiedVotes } from './votes';

/** So many nonces before the next one are looked at: no more of an account are in flight. */
const MOST_IN_FLIGHT = 1_000n;

/**
 * The lowest nonce from `from` to before `next` that neither the journal nor the database knows, where the journal was completed:
 * what was signed there is cut off, and whatever is signed later waits for it. Undefined where there is none. A nonce is executed
 * once: what is signed there now, or what nobody knows.
 */
async function forgottenNonce(
  { journal }: SignerContext,
  tx: Tx,
  {
    organizationId,
    accountId,
    networkId,
  }: Pick<StoredTransaction, 'organizationId' | 'accountId' | 'networkId'>,
  { from, next }: { readonly from: bigint; readonly next: bigint },
): Promise<bigint | undefined> {
  if (!journal.cutoffOf(organizationId)) return undefined;
  const forgotten: bigint[] = [];
  for (let safeNonce = max(from, next - MOST_IN_FLIGHT); safeNonce < next; safeNonce += 1n) {
    if (!journal.takenAt({ accountId, networkId, safeNonce })) forgotten.push(safeNonce);
  }
  const [lowest] = forgotten;
  if (lowest === undefined) return undefined;
  const stored = await storedNonces(tx, { accountId, networkId, from: lowest });
  return forgotten.find((nonce) => !stored.has(nonce));
}

/**
 * The next nonce of an account, or an earlier one that is forgotten. Throws SignerRefusal when the journal or the chain knows of a
 * higher one.
 */
async function nextSafeNonce(
  context: SignerContext,
  tx: Tx,
  { snapshot: { record, highestSafeNonce = -1n } }: Locked,
  { accountNonce }: TransactionTerms,
): Promise<bigint> {
  const { journal } = context;
  const { id, accountId, networkId } = record;
  let next = highestSafeNonce + 1n;
  // One that was only cancelled has no row where the database has lost it.
  const cancelledAt = (safeNonce: bigint) => {
    const { transactionId } = journal.takenAt({ accountId, networkId, safeNonce }) ?? {};
    return transactionId != null && journal.authorizationOf(transactionId) === undefined;
  };
  while (cancelledAt(next)) next += 1n;
  const wanted = { transactionId: id, accountId, networkId, safeNonce: next };
  assertNotRolledBack(context, wanted);
  assertNextNonce(context, wanted);
  if (BigInt(accountNonce) > next) {
    throw new SignerRefusal(
      'stale',
      `account ${accountId} has the nonce ${accountNonce} on ${networkOf(context, networkId).name}, but the recorded ones end before ${next}: its key has signed something else; run doctor`,
    );
  }
  return (await forgottenNonce(context, tx, record, { from: BigInt(accountNonce), next })) ?? next;
}

/** How often one activity tries a transaction; it is retried where outcomes were read. */
const MOST_ROUNDS = 5;

/** The intent that is committed before anything is signed, and the entries that the journal still lacks. */
interface Committed {
  readonly intent: Intent;
  readonly entries: readonly DecidingEntry[];
}

/** What was verified outside of the locks. */
type VerifiedWithGas = Verified & { readonly needed: NeededGas };

/** A transaction with the network locked. */
interface Locked {
  readonly snapshot: SigningSnapshot;
  readonly account: Address;
}

/**
 * Why an authorized transaction gets only its cancellation: it had failed, its chain has lost that block, and meanwhile
 * another one has taken its place or its budget was spent. Null where it goes on. Throws TemporaryRefusal while an earlier one that
 * stands for the same payment is undecided: its cancellation comes first.
 */
async function cancelledInstead(
  context: SignerContext,
  tx: Tx,
  { snapshot }: Locked,
  { transactionId, line }: IndexedAuthorization,
): Promise<string | null> {
  const { journal, pending } = context;
  const others = journal.othersOf(transactionId, null);
  const coming = pending
    .all()
    .find(({ transactionId: id, replaces }) =>
      journal.othersOf(id, replaces).some((one) => one.transactionId === transactionId),
    );
  if (coming) return `${coming.transactionId} has taken its place`;
  const outcomeOf = (id: string) => journal.outcomeOf(id)?.outcome ?? null;
  for (const other of others) {
    const outcome = outcomeOf(other.transactionId);
    if (outcome === 'executed') return `${other.transactionId} was executed in its place`;
    if (outcome === null && other.line > line) return `${other.transactionId} has taken its place`;
  }
  const earlier = others.find((other) => outcomeOf(other.transactionId) === null);
  if (earlier) {
    throw new TemporaryRefusal(
      'undecided',
      `transaction ${transactionId} waits for the cancellation of ${earlier.transactionId}, which it replaces`,
    );
  }
  const read = outcomeOf(transactionId);
  // The worker asks again because its chain no longer shows that outcome, whether or not the signer has read that yet.
  const isUndone = journal.isUndone(transactionId) || read === 'reverted' || read === 'cancelled';
  if (!isUndone) return null;
  const refused = await refusalByPolicy(context, tx, snapshot, { except: snapshot.record.id });
  return refused?.message ?? null;
}

/** The authorization of a stored attempt that the journal lacks, because a crash came before that. */
async function takeOver(
  context: SignerContext,
  tx: Tx,
  { snapshot, account }: Locked,
  attempt: Attempt,
  verified: VerifiedWithGas,
): Promise<readonly DecidingEntry[]> {
  const { id } = snapshot.record;
  const rejected = await assertTakenOver(context, tx, { snapshot, attempt, ...verified });
  const storedAt = (await findAuthorizedAt(tx, id)) ?? snapshot.now.time;
  // It counts in a budget from its block on, or for ever: an earlier time makes no budget larger.
  const authorizedAt = new Date(Math.min(storedAt.getTime(), snapshot.now.time.getTime()));
  const { votes } = verified;
  return [...rejected, authorizationEntry(snapshot, attempt, { account, votes, authorizedAt })];
}

/**
 * Another envelope for what is stored already, or for its cancellation where that is all that it may get. The journal takes
 * over what is stored since before a crash.
 */
async function continueStored(
  context: SignerContext,
  tx: Tx,
  { attempts, ...locked }: Locked & { readonly attempts: readonly Attempt[] },
  verified: VerifiedWithGas,
  terms: BoundedTerms<TransactionTerms>,
): Promise<Committed> {
  const { account } = locked;
  const { record } = locked.snapshot;
  const { id } = record;
  const target = targetOf(context, record, { account, attempts });
  const { attempt, known } = target;
  assertBeingExecuted(record);
  const isCancelled =
    context.journal.cancellationOf(id) ?? attempts.find(({ kind }) => kind === 'cancellation');
  const cancels =
    isCancelled ??
    (known ? await cancelledInstead(context, tx, locked, known) : cutOff(context, 'transaction', record));
  const takenOver = known || cancels ? [] : await takeOver(context, tx, locked, attempt, verified);
  // What goes on counts as undecided: the chain may have lost its block.
  await decideAuthorizations(tx, [{ transactionId: id, outcome: null, usedAt: null }]);
  if (cancels) {
    if (typeof cancels === 'string') {
      context.logger.warn({ transactionId: id }, `transaction ${id} gets only its cancellation: ${cancels}`);
    }
    const { intent, entry } = await storeCancellation(context, tx, record, target, { terms, instead: true });
    return { intent, entries: [entry] };
  }
  const intent = await reserveAgain(context, tx, storedSignable(attempt, account), terms);
  return { intent, entries: takenOver };
}

/**
 * Stores a new attempt with its authorization, and takes a nonce of the relayer for its envelope. Throws SignerRefusal
 * where its execution has ended meanwhile.
 */
async function storeNew(
  context: SignerContext,
  tx: Tx,
  locked: Locked,
  { votes, needed }: VerifiedWithGas,
  terms: BoundedTerms<TransactionTerms>,
): Promise<Committed> {
  const { snapshot, account } = locked;
  const { record, now, takenNonces: taken, followsUndecided } = snapshot;
  const asked = BigInt(terms.safeTxGas);
  const safeTxGas = max(asked, requireGas(needed));
  if (asked <= 0n) throw new SignerRefusal('stale', 'safeTxGas must be above 0');
  const content: SafeTransaction = {
    networkId: record.networkId,
    account,
    to: checksumAddress(record.to),
    value: record.value,
    data: record.calldata.toLowerCase() as Hex,
    safeTxGas,
    nonce: await nextSafeNonce(context, tx, locked, terms),
  };
  const { organizationId, id: transactionId, accountId } = record;
  const signable = { kind: 'transaction', organizationId, transactionId, accountId, content } as const;
  const authorizedAt = now.time;
  const attempt = newAttempt(signable, { fromBlock: BigInt(terms.fromBlock) });
  const { safeNonce, safeTxHash } = attempt;
  const batch = [insertAuthorization(tx, { ...usageOf(record), safeNonce, safeTxHash, authorizedAt })];
  const first = { attempt, signable, taken, batch, followsUndecided };
  const intent = await storeFirst(context, tx, first, fitting(content, terms));
  return { intent, entries: [authorizationEntry(snapshot, attempt, { account, votes, authorizedAt })] };
}

/** The terms with as much gas as the content needs at least: the signer may have found that it needs more. */
function fitting(
  content: SafeTransaction,
  terms: BoundedTerms<TransactionTerms>,
): BoundedTerms<TransactionTerms> {
  const asked = BigInt(terms.safeTxGas);
  if (content.safeTxGas <= asked) return terms;
  // With what was added to it, as for the data fee of a rollup.
  const more = executionGas(content) - executionGas({ ...content, safeTxGas: asked });
  const most = gasAfterReverts(content, MAX_WHOLE_REVERTS);
  return { ...terms, gas: String(min(BigInt(terms.gas) + more, most)) };
}

/** Commits the intent: the authorization, its nonces, in one database transaction. Throws SignerRefusal. */
async function commitIntent(
  context: SignerContext,
  {
    seen,
    replaced,
    pending,
  }: {
    seen: TransactionSnapshot;
    replaced: readonly StoredTransaction[];
    /** Gets what counts from before its commit on. */
    pending: AuthorizationEntry[];
  },
  { terms: asked, ...ref }: TransactionRef & { terms: TransactionTerms },
): Promise<Committed> {
  const { journal } = context;
  const { networkId } = seen.record;
  const terms = await boundTransactionTerms(context, networkId, asked);
  // Outside of the locks: its votes, the gas that it needs, and what became of what it replaces.
  const isNew = journal.authorizationOf(ref.transactionId) === undefined;
  const votes = isNew ? await verifiedVotes(context, seen) : [];
  const [needed, unavailable] = await Promise.all([
    isNew ? neededGas(context, seen.record) : 0n,
    decideReplaced(context, seen, othersOfPayment(context, seen.record, replaced)),
  ]);
  const verified = { votes, unavailable, needed, replaced };
  const announced = (committed: Committed) => {
    const own = committed.entries.filter((entry) => entry.type === 'authorization');
    for (const entry of own) context.pending.add(entry);
    pending.push(...own);
    return committed;
  };
  return withNetwork(
    context,
    networkId,
    async (tx) => {
      assertNotFrozen(context, ref.organizationId);
      const relayer = { address: terms.relayerAddress, fromNonce: terms.chainNonce };
      const snapshot = await readForSigning(context, tx, ref, { networkId, ...relayer });
      const { record } = snapshot;
      assertSameContent(seen.record, record);
      const account = accountIn(context, snapshot.state, record).address as Address;
      if (snapshot.attempted) {
        const attempts = await attemptsOfTransaction(tx, record.id);
        return announced(await continueStored(context, tx, { attempts, snapshot, account }, verified, terms));
      }
      assertNotAuthorized(context, record.id);
      assertNotTakenOver(context, record);
      const rejected = await assertTransactionEvidence(context, tx, snapshot, verified);
      const { intent, entries } = await storeNew(context, tx, { snapshot, account }, verified, terms);
      return announced({ intent, entries: [...rejected, ...entries] });
    },
    {
      signs: ref,
      committed: async () => {
        if (!isNew) await journalUndecided(context, ref);
      },
    },
  );
}

/** Appends to the journal what is committed, then signs it. */
async function signCommitted(context: SignerContext, { intent, entries }: Committed) {
  failpoint('signer.intentStored');
  return signIntent(context, intent, entries);
}

/** Signs a transaction that was read; of those of an organization that replace another one, one after the other. */
async function signSeen(
  context: SignerContext,
  seen: TransactionSnapshot,
  input: TransactionRef & { terms: TransactionTerms },
): Promise<SigningResult> {
  const { record } = seen;
  const sign = async (replaced: readonly StoredTransaction[]) => {
    const pending: AuthorizationEntry[] = [];
    try {
      return await signCommitted(context, await commitIntent(context, { seen, replaced, pending }, input));
    } finally {
      // The journal has it, or nothing of it is signed.
      for (const entry of pending) context.pending.forget(entry);
    }
  };
  if (record.replaces === null) return sign([]);
  // The journal has one before the next is looked at.
  return context.replacementMutex(record.organizationId, async () =>
    sign(context.journal.authorizationOf(record.id) ? [] : await unjournaledReplaced(context, record)),
  );
}

/**
 * Signs a transaction of an account and its envelope; or, where it was signed before, only the envelope. The intent is
 * committed first, then it is in the journal, then it is signed and stored: after a crash in between the same is signed.
 * Trusts nothing: before the first signature the payload is rebuilt from the record, and every signature, entitlement,
 * policy and expiry verified again, the budget by what the signer itself has authorized, and what it replaces and the gas
 * that it needs by what the signer's endpoints show now. What is signed is what was verified, from memory; of the database
 * come ids. A transaction is signed once, at one Safe nonce: whatever the records or the chain say became of it, it only
 * gets another envelope with the same bytes, or its cancellation.
 */
export async function signTransaction(
  context: SignerContext,
  input: TransactionRef & { terms: TransactionTerms },
): Promise<SigningResult> {
  return refusalsAsValues(context, async () => {
    assertIds(input, 'organizationId', 'transactionId');
    for (let round = 1; ; round += 1) {
      try {
        const seen = await readSealed(context, context.db, input);
        return await signSeen(context, seen, input);
      } catch (error) {
        if (!(error instanceof SignerRefusal) || round >= MOST_ROUNDS) throw error;
        await readOutcomesOfBudget(context, input, error);
      }
    }
  });
}
