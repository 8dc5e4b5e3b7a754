import type { Address, Hex } from 'viem';
import { checksumAddress } from '../../src/chain/address';
import { ChainUnavailable } from '../../src/chain/clients';
import type { SafeTransaction } from '../../src/chain/safeTransaction';
import { type Attempt, attemptsOfTransaction, insertAttempt } from '../../src/db/attempts';
import {
  executionStatusIn,
  findAuthorizedAt,
  insertAuthorization,
  transactionRows,
  undecidedAuthorizations,
} from '../../src/db/authorizations';
import type { Tx } from '../../src/db/database';
import { requireRow } from '../../src/db/rows';
import type { TransactionSnapshot } from '../../src/db/transactions';
import { isExpired } from '../../src/domain/approval';
import type { TransactionRef } from '../../src/domain/transaction';
import { failpoint } from '../../src/failpoints';
import type { AuthorizationEntry } from '../../src/journal/entries';
import { mapLimit } from '../../src/mapLimit';
import { usageOf } from '../../src/transactions/policy';
import { accountIn } from '../signer/account';
import { type BoundedTerms, boundTerms } from '../signer/boundedTerms';
import { networkOf, type SignerContext, withNetwork } from '../signer/context';
import { assertNotFrozen } from '../signer/frozen';
import { refusalsAsValues, SignerHold, SignerRefusal, type SigningResult } from '../signer/refusal';
import { assertTakenOver, authorizationEntry } from './authorization';
import { decide, recordDecision } from './confirmOutcome';
import { assertNotRolledBack, isJournaled, journalRejection } from './journaled';
import type { TransactionTerms } from './observation';
import { carryNew, carryOn, type Intent, newAttempt, signIntent, storeCarried } from './signedAttempts';
import {
  assertBeingExecuted,
  assertSameContent,
  assertTransactionEvidence,
  type Unread,
  type Votes,
  verifiedVotes,
} from './signerEvidence';
import { networkAndPolicyOf, readForSigning, readSealed, type SigningSnapshot } from './signerRecord';

/** The next nonce of an account by the records. Throws SignerRefusal when the journal or the chain knows of a higher one. */
function nextSafeNonce(
  context: SignerContext,
  { record: { id, accountId, networkId }, highestSafeNonce = -1n }: SigningSnapshot,
  { accountNonce }: TransactionTerms,
): bigint {
  const next = highestSafeNonce + 1n;
  assertNotRolledBack(context, { transactionId: id, accountId, networkId, safeNonce: next });
  if (BigInt(accountNonce) > next) {
    throw new SignerRefusal(
      'stale',
      `account ${accountId} has the nonce ${accountNonce} on ${networkOf(context, networkId).name}, but the recorded ones end before ${next}: its key has signed something else; run doctor`,
    );
  }
  return next;
}

/** What is stored for a transaction: its cancellation, if there is one. */
function signedAttempt(attempts: readonly Attempt[]): Attempt | undefined {
  return attempts.find(({ kind }) => kind === 'cancellation') ?? attempts[0];
}

/** How many authorizations are looked up when a budget is used up, and how many of them at once. */
const LOOKED_UP = 100;
const LOOKED_UP_AT_ONCE = 8;

/**
 * Looks up what became of the undecided authorizations of a policy: until the signer has read it, they count in every
 * window. True when one of them was decided.
 */
async function decideUndecided(context: SignerContext, policyId: string): Promise<boolean> {
  const undecided = await undecidedAuthorizations(context.db, { policyId, limit: LOOKED_UP });
  let decided = false;
  await mapLimit(LOOKED_UP_AT_ONCE, undecided, async (ref) => {
    decided = (await decide(context, ref)) !== null || decided;
  });
  return decided;
}

/** No chain loses older blocks: what an outcome in one says needs no search of the logs. */
const LOSABLE_MS = 86_400_000;

/**
 * Looks up what became of what a transaction replaces, before the first signature: the chain may have lost what was read
 * of it before. Returns why it waits, where that cannot be read.
 */
async function decideReplaced(context: SignerContext, { record, now }: TransactionSnapshot): Promise<Unread> {
  const { id, organizationId, replaces } = record;
  const isPast = isExpired(record, now.time);
  if (replaces === null || isPast || context.journal.authorizationOf(id)) return undefined;
  const [signed] = await attemptsOfTransaction(context.db, replaces);
  // What is recorded counts where the network is not configured any more.
  if (!signed || !context.networks.some((network) => network.id === signed.networkId)) return undefined;
  try {
    const known = context.journal.outcomeOf(replaces);
    const search = !known?.outcome || now.time.getTime() - Date.parse(known.blockAt) < LOSABLE_MS;
    await decide(context, { organizationId, transactionId: replaces }, { search });
    return undefined;
  } catch (error) {
    if (!(error instanceof ChainUnavailable || error instanceof SignerRefusal)) throw error;
    const message = `transaction ${id} replaces ${replaces}, whose outcome the signer cannot read now: ${error.message}`;
    return new SignerHold('undecided', message);
  }
}

/** Reads the outcomes of a policy whose budget refuses. Throws the refusal where that changes nothing. */
async function readOutcomes(context: SignerContext, ref: TransactionRef, refusal: SignerRefusal) {
  if (refusal.code !== 'budget') throw refusal;
  const { policyId } = await networkAndPolicyOf(context.db, ref);
  if (!(await decideUndecided(context, policyId))) throw refusal;
}

/** What is committed before anything is signed, and what of it the journal lacks. */
interface Committed {
  readonly intent: Intent;
  /** The transaction that it replaces. */
  readonly replaces: string | null;
  readonly authorization?: AuthorizationEntry;
}

/** Another envelope for what is stored already; the journal takes it over where a crash came before that. */
async function carryStored(
  context: SignerContext,
  tx: Tx,
  {
    attempts,
    ...of
  }: {
    attempts: readonly Attempt[];
    snapshot: SigningSnapshot;
    votes: Votes;
    unread: Unread;
    account: Address;
  },
  terms: BoundedTerms<TransactionTerms>,
): Promise<Committed> {
  const { snapshot, votes, unread, account } = of;
  const { id, organizationId } = snapshot.record;
  const [transaction] = attempts;
  const attempt = signedAttempt(attempts);
  if (!transaction || !attempt) throw new Error(`nothing of transaction ${id} is stored`);
  assertBeingExecuted(snapshot.record);
  const isKnown = isJournaled(context, transaction);
  if (!isKnown) await assertTakenOver(context, tx, { snapshot, attempt: transaction, votes, unread });
  // What is carried on counts as undecided: the chain may have lost its block.
  await recordDecision(context, tx, { organizationId, transactionId: id }, null);
  const intent = await carryOn(context, tx, { attempt, account }, terms);
  const { replaces } = snapshot.record;
  if (isKnown) return { intent, replaces };
  const authorizedAt = (await findAuthorizedAt(tx, id)) ?? snapshot.now.time;
  const rows = await transactionRows(tx, id);
  const entry = authorizationEntry(snapshot, transaction, { account, votes, authorizedAt, rows });
  return { intent, replaces, authorization: entry };
}

/**
 * Stores a new attempt with its authorization, and takes a nonce of the relayer for its envelope. Throws SignerRefusal
 * where its execution has ended meanwhile.
 */
async function storeNew(
  context: SignerContext,
  tx: Tx,
  { snapshot, votes, account }: { snapshot: SigningSnapshot; votes: Votes; account: Address },
  terms: BoundedTerms<TransactionTerms>,
): Promise<Committed> {
  const { record, now, takenNonces: taken } = snapshot;
  const content: SafeTransaction = {
    networkId: record.networkId,
    account,
    to: checksumAddress(record.to),
    value: record.value,
    data: record.calldata.toLowerCase() as Hex,
    safeTxGas: BigInt(terms.safeTxGas),
    nonce: nextSafeNonce(context, snapshot, terms),
  };
  if (content.safeTxGas <= 0n) throw new SignerRefusal('stale', 'safeTxGas must be above 0');
  const authorizedAt = now.time;
  const attempt = newAttempt(record, {
    kind: 'transaction',
    content,
    fromBlock: BigInt(terms.fromBlock),
  });
  const { safeNonce, safeTxHash } = attempt;
  const along = [insertAuthorization(tx, { ...usageOf(record), safeNonce, safeTxHash, authorizedAt })];
  const intent = snapshot.followsUndecided
    ? await carryNew(context, tx, { attempt: await insertAttempt(tx, attempt, along), account }, terms)
    : await storeCarried(context, tx, { attempt, content, taken, along }, terms);
  // The row of the attempt locks its transaction, so that the execution cannot end concurrently.
  const rows = await transactionRows(tx, record.id);
  if (executionStatusIn(rows) !== 'processing') {
    throw new SignerRefusal('stale', `transaction ${record.id} is not being executed any more`);
  }
  const stored = requireRow(intent.toSign.at(-1)).attempt;
  const authorization = authorizationEntry(snapshot, stored, { account, votes, authorizedAt, rows });
  return { intent, replaces: record.replaces, authorization };
}

/** Commits the intent: the authorization, its nonces, in one database transaction. Throws SignerRefusal. */
async function commitIntent(
  context: SignerContext,
  { terms: asked, ...ref }: TransactionRef & { terms: TransactionTerms },
): Promise<Committed> {
  // Outside of the locks: its votes, and what became of what it replaces.
  const seen = await readSealed(context, context.db, ref);
  const { networkId } = seen.record;
  const terms = await boundTerms(context, networkId, asked);
  const votes = await verifiedVotes(context, seen);
  const unread = await decideReplaced(context, seen);
  return withNetwork(context, networkId, async (tx) => {
    assertNotFrozen(context, ref.organizationId);
    const relayer = { address: terms.relayerAddress, fromNonce: terms.chainNonce };
    const snapshot = await readForSigning(context, tx, ref, { networkId, ...relayer });
    const { record } = snapshot;
    assertSameContent(seen.record, record);
    const account = accountIn(context, snapshot.state, record).address as Address;
    if (snapshot.attempted) {
      const attempts = await attemptsOfTransaction(tx, record.id);
      return carryStored(context, tx, { attempts, snapshot, votes, unread, account }, terms);
    }
    await assertTransactionEvidence(context, tx, snapshot, votes, unread);
    return storeNew(context, tx, { snapshot, votes, account }, terms);
  });
}

/** Appends to the journal what is committed, then signs it. */
async function signCommitted(context: SignerContext, { intent, replaces, authorization }: Committed) {
  failpoint('signer.intentStored');
  // What is replaced without ever being authorized is rejected.
  if (replaces !== null) await journalRejection(context, replaces);
  return signIntent(context, intent, authorization);
}

/**
 * Signs a transaction of an account and its envelope; or, where it was signed before, only the envelope. The intent is
 * committed first, then it is in the journal, then it is signed and stored: after a crash in between the same is signed.
 * Trusts nothing: before the first signature the payload is rebuilt from the record, and every signature, entitlement,
 * policy and expiry verified again, the budget by what the signer itself has authorized, and what it replaces by what the
 * signer's endpoints show now. A transaction is signed once, at one Safe nonce: whatever the records or the chain say
 * became of it, it only gets another envelope with the same bytes.
 */
export async function signTransaction(
  context: SignerContext,
  input: TransactionRef & { terms: TransactionTerms },
): Promise<SigningResult> {
  return refusalsAsValues(context, async () => {
    for (;;) {
      try {
        return await signCommitted(context, await commitIntent(context, input));
      } catch (error) {
        if (!(error instanceof SignerRefusal)) throw error;
        await readOutcomes(context, input, error);
      }
    }
  });
}
