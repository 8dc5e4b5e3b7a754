import type { Address, Hex } from 'viem';
import { raised } from '../../chain/fees';
import { executionGas, gasAfterReverts, MAX_WHOLE_REVERTS } from '../../chain/gas';
import {
  cancellation,
  executionCall,
  type SafeTransaction,
  safeTransactionHash,
} from '../../chain/safeTransaction';
import { type Attempt, attemptsAtNonce, envelopesOf, undecidedBelow } from '../../db/attempts';
import type { Tx } from '../../db/database';
import { type Envelope, undecidedEnvelope } from '../../db/envelopes';
import type { Reservation } from '../../db/reservations';
import type { Statement } from '../../db/rows';
import type { StoredTransaction } from '../../db/storedTransactions';
import { max, min } from '../../domain/bigint';
import type { TransactionTerms } from '../../domain/terms';
import { failpoint } from '../../failpoints';
import type { BoundedTerms } from '../boundedTerms';
import { assertNotFrozen } from '../frozen';
import type { AuthorizationEntry, CancellationEntry, RejectionEntry } from '../journal/entries';
import { ROLLED_BACK, TemporaryRefusal } from '../refusal';
import { firstEnvelope, gasOf, reservedBefore, reserveEnvelope, signReserved } from '../signEnvelope';
import { networkOf, type SignerContext } from '../signerContext';
import { reservationsOf } from '../store/reservations';
import {
  insertAttempt,
  insertAttemptReserved,
  insertSignature,
  type NewAttempt,
} from '../store/signedAttempts';
import { authorizationOf, contentOfAttempt } from './journaled';
import { isAttemptOf } from './sealedTransaction';

/**
 * What is signed for an account: content that was verified, and stays in memory until it is signed. Of the database it
 * has ids only.
 */
interface Signable {
  readonly kind: Attempt['kind'];
  readonly organizationId: string;
  readonly transactionId: string;
  readonly accountId: string;
  readonly content: SafeTransaction;
  /** Where it is stored. */
  readonly attemptId: bigint;
  /** The records have its signature. */
  readonly isSigned: boolean;
}

type SignableOf = Pick<Signable, 'kind' | 'organizationId' | 'transactionId' | 'accountId' | 'content'>;

/** What is stored of it before it is signed. */
export function newAttempt(
  { kind, content, ...of }: SignableOf,
  { fromBlock }: Pick<Attempt, 'fromBlock'>,
): NewAttempt {
  return {
    kind,
    organizationId: of.organizationId,
    transactionId: of.transactionId,
    accountId: of.accountId,
    networkId: content.networkId,
    to: content.to,
    value: content.value,
    data: content.data,
    safeNonce: content.nonce,
    safeTxGas: content.safeTxGas,
    safeTxHash: safeTransactionHash(content),
    fromBlock,
  };
}

/** A stored attempt with content that is known from elsewhere. */
function stored(
  { id, kind, organizationId, transactionId, accountId, signature }: Attempt,
  content: SafeTransaction,
) {
  return {
    ...{ kind, organizationId, transactionId, accountId, content },
    attemptId: id,
    isSigned: signature !== null,
  };
}

/** Throws TemporaryRefusal unless a stored cancellation is the empty call that uses a nonce of its account. */
export function assertCancellation(attempt: Attempt, account: Address, nonce: bigint): SafeTransaction {
  const { id, networkId, safeNonce, safeTxHash } = attempt;
  const content = cancellation({ networkId, account, nonce });
  if (safeNonce === nonce && safeTransactionHash(content) === safeTxHash) return content;
  throw new TemporaryRefusal(
    'rollback',
    `chain_attempts ${id} is not the cancellation of nonce ${nonce}: the database was changed`,
  );
}

/** Throws TemporaryRefusal unless a stored attempt is the call that its transaction asks for. */
export function assertAttemptOf(record: StoredTransaction, attempt: Attempt): void {
  if (isAttemptOf(record, attempt)) return;
  throw new TemporaryRefusal(
    'rollback',
    `chain_attempts ${attempt.id} is not what transaction ${record.id} asks for: the database was changed`,
  );
}

/** A stored attempt whose authorization is in the journal, or is verified to go there: by the hash of its content. */
export function storedSignable(attempt: Attempt, account: Address): Signable {
  return stored(attempt, contentOfAttempt(attempt, account));
}

/** An envelope of an attempt, to be signed. */
interface Reserved {
  readonly signable: Signable;
  readonly reserved: Reservation;
}

/** What is committed and is to be signed, in order: last, what was asked for; or the envelope that it has already. */
export interface Intent {
  readonly toSign: readonly Reserved[];
  readonly present?: Envelope;
}

/** What an envelope is for, and the gas that its content can need; `asked`: what it is signed for. */
function requested({ kind, organizationId, accountId, content }: SignableOf, asked = kind) {
  return {
    accountId,
    networkId: content.networkId,
    about: { kind: asked, organizationId },
    gas: { least: executionGas(content), most: gasAfterReverts(content, MAX_WHOLE_REVERTS) },
  };
}

/** Reserves an envelope for an attempt; `asked`: what it is signed for. */
async function reserve(
  context: SignerContext,
  tx: Tx,
  signable: Signable,
  terms: BoundedTerms,
  { asked, ...at }: { replaces?: Envelope; above?: number; asked?: Attempt['kind'] },
): Promise<Reserved> {
  const { attemptId } = signable;
  const request = { attemptId, terms, ...requested(signable, asked), ...at };
  return { signable, reserved: await reserveEnvelope(context, tx, request) };
}

/** What is signed at an earlier nonce of the account, as the journal has it. Throws TemporaryRefusal where it has not. */
function earlierSignable(context: SignerContext, wanted: Attempt, account: Address): Signable {
  const { journal } = context;
  const { kind, transactionId, accountId, safeNonce } = wanted;
  const cancelled = journal.cancellationOf(transactionId);
  const known = kind === 'transaction' ? authorizationOf(context, wanted, account) : cancelled;
  if (!known) {
    throw new TemporaryRefusal(
      'unsigned',
      `nonce ${safeNonce} of account ${accountId} belongs to transaction ${transactionId}, which is not signed yet`,
    );
  }
  if (kind === 'cancellation') {
    return stored(wanted, assertCancellation(wanted, account, BigInt(known.safeNonce)));
  }
  if (cancelled || journal.isUndone(transactionId)) {
    throw new TemporaryRefusal(
      'undecided',
      `nonce ${safeNonce} of account ${accountId} belongs to transaction ${transactionId}, which is cancelled or decided again: its own workflow goes on first`,
    );
  }
  return storedSignable(wanted, account);
}

/**
 * Reserves an envelope for each attempt at an earlier nonce of the account that has none, in order. Returns them, and
 * the relayer's highest nonce among all: a later account nonce needs a later relayer nonce. Throws SignerRefusal for one
 * that was not signed, because of a crash: its own workflow repeats it.
 */
async function reserveEarlier(
  context: SignerContext,
  tx: Tx,
  { kind: asked, organizationId, accountId, content: { networkId, account, nonce: own } }: SignableOf,
  terms: BoundedTerms<TransactionTerms>,
): Promise<{ above: number; toSign: Reserved[] }> {
  const isFrozen = context.journal.freezeOf(organizationId) !== undefined;
  let above = -1;
  const toSign: Reserved[] = [];
  const undecided = await undecidedBelow(tx, { accountId, networkId }, own);
  const earlier = undecided.filter(
    ({ safeNonce }) => safeNonce < own && safeNonce >= BigInt(terms.accountNonce),
  );
  const reservations = await reservationsOf(tx, earlier);
  const envelopes = await envelopesOf(tx, earlier);
  // What is mined has used its nonce, before its outcome is recorded.
  const existing = [
    ...reservations,
    ...envelopes.filter(({ outcome }) => outcome === null || outcome === 'mined'),
  ];
  for (const nonce of new Set(earlier.map(({ safeNonce }) => safeNonce))) {
    const attempts = earlier.filter(({ safeNonce }) => safeNonce === nonce);
    const live = existing.filter(({ attemptId }) => attempts.some(({ id }) => id === attemptId));
    const ofRelayer = live.filter(({ relayerAddress }) => relayerAddress === terms.relayerAddress);
    above = Math.max(above, ...ofRelayer.map(({ relayerNonce }) => relayerNonce));
    // A cancellation is the newer of two at one nonce.
    const wanted = attempts.at(-1);
    if (live.length > 0 || !wanted) continue;
    // Behind a freeze only cancellations get envelopes.
    if (isFrozen && wanted.kind === 'transaction') continue;
    const signable = earlierSignable(context, wanted, account);
    const gas = String(executionGas(signable.content));
    const one = await reserve(context, tx, signable, { ...terms, gas }, { above, asked });
    toSign.push(one);
    above = Math.max(above, one.reserved.relayerNonce);
  }
  return { above, toSign };
}

/**
 * Stores what is to be signed for the first time, and other statements, in one round trip where nothing else of the account
 * is undecided. `taken`: nonces of the relayer from `terms.chainNonce` on.
 */
export async function storeFirst(
  context: SignerContext,
  tx: Tx,
  {
    attempt,
    signable: of,
    taken,
    batch,
    followsUndecided,
  }: {
    attempt: NewAttempt;
    signable: SignableOf;
    taken: ReadonlySet<number>;
    batch: readonly Statement[];
    followsUndecided: boolean;
  },
  terms: BoundedTerms<TransactionTerms>,
): Promise<Intent> {
  if (followsUndecided) {
    const attemptId = await insertAttempt(tx, attempt, batch);
    return reserveNew(context, tx, { ...of, attemptId, isSigned: false }, terms);
  }
  const envelope = firstEnvelope(context, tx, { terms, ...requested(of) }, taken);
  const { attemptId, reservationId: id } = await insertAttemptReserved(tx, attempt, envelope, batch);
  const signable = { ...of, attemptId, isSigned: false };
  return { toSign: [{ signable, reserved: { ...envelope, id, attemptId } }] };
}

/** Reserves the first envelope for an attempt, behind those of earlier nonces of the account. */
async function reserveNew(
  context: SignerContext,
  tx: Tx,
  signable: Signable,
  terms: BoundedTerms<TransactionTerms>,
): Promise<Intent> {
  const { above, toSign } = await reserveEarlier(context, tx, signable, terms);
  return { toSign: [...toSign, await reserve(context, tx, signable, terms, { above })] };
}

/**
 * Reserves another envelope for a stored attempt or for its cancellation. Returns an undecided one again, unless the
 * terms replace it, and one that is to be signed since before a crash.
 */
export async function reserveAgain(
  context: SignerContext,
  tx: Tx,
  signable: Signable,
  terms: BoundedTerms<TransactionTerms>,
): Promise<Intent> {
  const { attemptId, accountId, content } = signable;
  const { networkId, nonce } = content;
  const [before] = await reservationsOf(tx, [{ id: attemptId }]);
  if (before) {
    const request = { attemptId, terms, ...requested(signable) };
    return { toSign: [{ signable, reserved: await reservedBefore(context, tx, request, before) }] };
  }
  const { envelopes } = await attemptsAtNonce(tx, { accountId, networkId }, nonce);
  const own = undecidedEnvelope(envelopes.filter((envelope) => envelope.attemptId === attemptId));
  const replaced = envelopes.find(({ id }) => String(id) === terms.replaces);
  if (own && own.id !== replaced?.id) return { toSign: [], present: own };
  if (!replaced) return reserveNew(context, tx, signable, terms);
  const { toSign } = await reserveEarlier(context, tx, signable, terms);
  return { toSign: [...toSign, await reserve(context, tx, signable, terms, { replaces: replaced })] };
}

/** The terms for the empty call instead of a transaction, at the relayer's nonce of what is in flight for it. */
async function cancellingTerms(
  context: SignerContext,
  tx: Tx,
  { accountId, content }: SignableOf,
  terms: BoundedTerms<TransactionTerms>,
): Promise<BoundedTerms<TransactionTerms>> {
  const { networkId, nonce } = content;
  const { envelopes } = await attemptsAtNonce(tx, { accountId, networkId }, nonce);
  // Whatever is recorded of it: its block may be lost. The lowest, so that nothing of it comes before the empty call.
  const [inFlight] = envelopes
    .filter((one) => one.relayerAddress === terms.relayerAddress && one.relayerNonce >= terms.chainNonce)
    .sort((one, other) => one.relayerNonce - other.relayerNonce || (one.id > other.id ? -1 : 1));
  const most = gasAfterReverts(content, MAX_WHOLE_REVERTS);
  const gas = max(min(BigInt(terms.gas), most), executionGas(content));
  const fitting = { ...terms, gas: String(gas) };
  // At the ceiling nothing can be replaced.
  if (!inFlight || raised(inFlight.maxFeePerGas) > networkOf(context, networkId).maxFeePerGas) return fitting;
  const atLeast = (asked: string, wei: bigint) => String(max(BigInt(asked), wei));
  return {
    ...fitting,
    maxFeePerGas: atLeast(terms.maxFeePerGas, raised(inFlight.maxFeePerGas)),
    maxPriorityFeePerGas: atLeast(terms.maxPriorityFeePerGas, raised(inFlight.maxPriorityFeePerGas)),
    relayerAddress: inFlight.relayerAddress,
    replaces: String(inFlight.id),
  };
}

/** What of a transaction has a nonce. */
export interface Target {
  readonly account: Address;
  readonly attempts: readonly Attempt[];
  readonly safeNonce: bigint;
  readonly fromBlock: bigint;
}

/**
 * Stores the empty call that uses the nonce of a transaction, unless it is stored, and reserves an envelope for it.
 * `instead`: it was asked for the transaction, and replaces what is in flight. Returns what goes to the journal, too.
 */
export async function storeCancellation(
  context: SignerContext,
  tx: Tx,
  { id: transactionId, organizationId, accountId, networkId }: StoredTransaction,
  { account, attempts, safeNonce: nonce, fromBlock }: Target,
  { terms, instead = false }: { terms: BoundedTerms<TransactionTerms>; instead?: boolean },
): Promise<{ intent: Intent; entry: CancellationEntry }> {
  const content = cancellation({ networkId, account, nonce });
  const of = { kind: 'cancellation', organizationId, transactionId, accountId, content } as const;
  const earlier = attempts.find(({ kind }) => kind === 'cancellation');
  if (earlier) assertCancellation(earlier, account, nonce);
  const attempt = newAttempt(of, { fromBlock });
  const signable = {
    ...of,
    attemptId: earlier?.id ?? (await insertAttempt(tx, attempt)),
    isSigned: earlier !== undefined && earlier.signature !== null,
  };
  const asked = instead && !earlier ? await cancellingTerms(context, tx, of, terms) : terms;
  const intent = await reserveAgain(context, tx, signable, asked);
  const { safeTxHash } = attempt;
  const nonceOf = { accountId, networkId, safeNonce: String(nonce), safeTxHash };
  return { intent, entry: { type: 'cancellation', organizationId, transactionId, ...nonceOf } };
}

/**
 * Throws unless the journal has exactly this: the authorization of the transaction, or its cancellation. The last check
 * before the key of an organization signs.
 */
function assertJournaled({ journal }: SignerContext, { kind, transactionId }: Signable, hash: Hex): void {
  const known =
    kind === 'transaction' ? journal.authorizationOf(transactionId) : journal.cancellationOf(transactionId);
  if (known?.safeTxHash === hash) return;
  throw new TemporaryRefusal(
    'rollback',
    `the journal has ${known?.safeTxHash ?? 'nothing'} of the ${kind} of ${transactionId}, and ${hash} was to be signed: ${ROLLED_BACK}`,
  );
}

/** Signs an envelope and what it carries, and stores both signatures. Returns the envelope's id. */
async function signOne(context: SignerContext, { signable, reserved }: Reserved): Promise<bigint> {
  const { organizationId, attemptId, content, isSigned } = signable;
  const hash = safeTransactionHash(content);
  assertJournaled(context, signable, hash);
  const signature = await context.keystore.organizationKey(organizationId).sign({ hash });
  const batch = isSigned ? [] : [insertSignature(context.db, attemptId, signature, context.journal.hold())];
  return signReserved(context, reserved, executionCall(content, signature), batch);
}

/** What the journal gets before anything is signed. */
export type DecidingEntry = AuthorizationEntry | CancellationEntry | RejectionEntry;

/**
 * Signs what is committed: first the journal has it, with one flush of the disk; then the signatures are made, outside
 * any database transaction, and stored. Returns the envelope that was asked for.
 */
export async function signIntent(
  context: SignerContext,
  { toSign, present }: Intent,
  entries: readonly DecidingEntry[],
): Promise<{ envelopeId: string }> {
  const gas = toSign.map(({ reserved, signable: { kind, organizationId } }) =>
    gasOf(reserved, { kind, organizationId }),
  );
  for (const { type, organizationId, transactionId } of entries) {
    if (type !== 'authorization') continue;
    assertNotFrozen(context, organizationId);
    // It is not looked up before it can be on the chain.
    context.lastLooks.set(transactionId, performance.now());
  }
  if (entries.length + gas.length > 0) await context.gasBudget.append(...entries, ...gas);
  failpoint('signer.journaled');
  let last = present?.id;
  for (const one of toSign) {
    const { kind, organizationId } = one.signable;
    if (kind === 'transaction') assertNotFrozen(context, organizationId);
    last = await signOne(context, one);
  }
  if (last === undefined) throw new Error('there is nothing to sign');
  return { envelopeId: String(last) };
}
