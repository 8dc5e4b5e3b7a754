import type { Address, Hex } from 'viem';
import {
  cancellation,
  executionCall,
  executionGas,
  type SafeTransaction,
  safeTransactionHash,
} from '../../src/chain/safeTransaction';
import {
  type Attempt,
  attemptsAtNonce,
  envelopesOf,
  insertAttemptReserved,
  insertSignature,
  type NewAttempt,
  undecidedBelow,
} from '../../src/db/attempts';
import type { Envelope } from '../../src/db/chain';
import type { Tx } from '../../src/db/database';
import { type Reservation, reservationsOf } from '../../src/db/reservations';
import type { Statement } from '../../src/db/rows';
import type { StoredTransaction } from '../../src/db/transactions';
import { isSameAddress } from '../../src/domain/address';
import { failpoint } from '../../src/failpoints';
import type { AuthorizationEntry } from '../../src/journal/entries';
import { undecidedEnvelope } from '../relayer/envelopes';
import type { BoundedTerms } from '../signer/boundedTerms';
import type { SignerContext } from '../signer/context';
import { assertNotFrozen } from '../signer/frozen';
import { SignerHold } from '../signer/refusal';
import { assertReserved, firstEnvelope, gasOf, reserveEnvelope, signReserved } from '../signer/signEnvelope';
import { gasAfterReverts, MAX_WHOLE_REVERTS } from './gasAfterReverts';
import { isJournaled } from './journaled';
import type { TransactionTerms } from './observation';

/** What an account is to execute. */
interface Content {
  readonly kind: Attempt['kind'];
  readonly content: SafeTransaction;
  readonly fromBlock: bigint;
}

/** What is stored of it before it is signed. */
export function newAttempt(record: StoredTransaction, { kind, content, fromBlock }: Content): NewAttempt {
  return {
    kind,
    organizationId: record.organizationId,
    transactionId: record.id,
    accountId: record.accountId,
    networkId: record.networkId,
    to: content.to,
    value: content.value,
    data: content.data,
    safeNonce: content.nonce,
    safeTxGas: content.safeTxGas,
    safeTxHash: safeTransactionHash(content),
    fromBlock,
  };
}

function safeTransactionOf(attempt: Attempt, account: Address): SafeTransaction {
  return {
    networkId: attempt.networkId,
    account,
    to: attempt.to as Address,
    value: attempt.value,
    data: attempt.data as Hex,
    safeTxGas: attempt.safeTxGas,
    nonce: attempt.safeNonce,
  };
}

/** A stored attempt of an account. */
export interface Carried {
  readonly attempt: Attempt;
  readonly account: Address;
}

/** Throws SignerHold unless a stored cancellation is the empty call that uses a nonce; its own, unless given. */
export function assertCancellation({ attempt, account }: Carried, nonce = attempt.safeNonce): void {
  const { id, networkId, safeTxHash } = attempt;
  if (safeTransactionHash(cancellation({ networkId, account, nonce })) === safeTxHash) return;
  throw new SignerHold('rollback', `chain_attempts ${id} is not a cancellation: the database was changed`);
}

/** Throws SignerHold unless a stored attempt is the call that its transaction asks for. */
export function assertAttemptOf(record: StoredTransaction, attempt: Attempt): void {
  const { id, organizationId, accountId, networkId, to, value, data } = attempt;
  const isSame =
    organizationId === record.organizationId &&
    accountId === record.accountId &&
    networkId === record.networkId &&
    isSameAddress(to, record.to) &&
    value === record.value &&
    data.toLowerCase() === record.calldata.toLowerCase();
  if (isSame) return;
  throw new SignerHold(
    'rollback',
    `chain_attempts ${id} is not what transaction ${record.id} asks for: the database was changed`,
  );
}

/** An envelope of an attempt, to be signed. */
interface Reserved extends Carried {
  readonly reserved: Reservation;
}

/** What is committed and is to be signed, in order: last, what was asked for; or the envelope that it has already. */
export interface Intent {
  readonly toSign: readonly Reserved[];
  readonly present?: Envelope;
}

/** What an envelope is for, and the gas that its content can need; `asked`: what it is signed for. */
function requested(
  { kind, organizationId }: Pick<Attempt, 'kind' | 'organizationId'>,
  content: SafeTransaction,
  asked = kind,
) {
  return {
    about: { kind: asked, organizationId },
    gas: { least: executionGas(content), most: gasAfterReverts(content, MAX_WHOLE_REVERTS) },
  };
}

/** Reserves an envelope for an attempt; `asked`: what it is signed for. */
async function carry(
  context: SignerContext,
  tx: Tx,
  carried: Carried,
  terms: BoundedTerms,
  { asked, ...at }: { replaces?: Envelope; above?: number; asked?: Attempt['kind'] },
): Promise<Reserved> {
  const { attempt, account } = carried;
  const reserved = await reserveEnvelope(context, tx, {
    attemptId: attempt.id,
    networkId: attempt.networkId,
    accountId: attempt.accountId,
    terms,
    ...requested(attempt, safeTransactionOf(attempt, account), asked),
    ...at,
  });
  return { ...carried, reserved };
}

/**
 * Reserves an envelope for each attempt at an earlier nonce of the account that has none, in order. Returns them, and
 * the relayer's highest nonce among all: a later account nonce needs a later relayer nonce. Throws SignerRefusal for one
 * that was not signed, because of a crash: its own workflow repeats it.
 */
async function carryEarlier(
  context: SignerContext,
  tx: Tx,
  { attempt, account }: Carried,
  terms: BoundedTerms<TransactionTerms>,
): Promise<{ above: number; toSign: Reserved[] }> {
  const isFrozen = context.journal.freezeOf(attempt.organizationId) !== undefined;
  let above = -1;
  const toSign: Reserved[] = [];
  const undecided = await undecidedBelow(tx, attempt, attempt.safeNonce);
  const earlier = undecided.filter(({ safeNonce }) => safeNonce >= BigInt(terms.accountNonce));
  const reservations = await reservationsOf(tx, earlier);
  const envelopes = await envelopesOf(tx, earlier);
  // What is mined has used its nonce, before its outcome is recorded.
  const carrying = [
    ...reservations,
    ...envelopes.filter(({ outcome }) => outcome === null || outcome === 'mined'),
  ];
  for (const nonce of new Set(earlier.map(({ safeNonce }) => safeNonce))) {
    const attempts = earlier.filter(({ safeNonce }) => safeNonce === nonce);
    const live = carrying.filter(({ attemptId }) => attempts.some(({ id }) => id === attemptId));
    const own = live.filter(({ relayerAddress }) => relayerAddress === terms.relayerAddress);
    above = Math.max(above, ...own.map(({ relayerNonce }) => relayerNonce));
    // A cancellation is the newer of two at one nonce.
    const wanted = attempts.at(-1);
    if (live.length > 0 || !wanted) continue;
    // Behind a freeze only cancellations get envelopes.
    if (isFrozen && wanted.kind === 'transaction') continue;
    if (wanted.signature === null) {
      throw new SignerHold(
        'unsigned',
        `nonce ${nonce} of account ${wanted.accountId} belongs to transaction ${wanted.transactionId}, which is not signed yet`,
      );
    }
    const gas = String(executionGas({ safeTxGas: wanted.safeTxGas, data: wanted.data as Hex }));
    const one = await carry(
      context,
      tx,
      { attempt: wanted, account },
      { ...terms, gas },
      { above, asked: attempt.kind },
    );
    toSign.push(one);
    above = Math.max(above, one.reserved.relayerNonce);
  }
  return { above, toSign };
}

/**
 * Stores an attempt with its first envelope's nonce, and other statements, in one round trip. Nothing else of the account
 * is undecided. `taken`: nonces of the relayer from `terms.chainNonce` on.
 */
export async function storeCarried(
  context: SignerContext,
  tx: Tx,
  {
    attempt,
    content,
    taken,
    along,
  }: {
    attempt: NewAttempt;
    content: SafeTransaction;
    taken: ReadonlySet<number>;
    along: readonly Statement[];
  },
  terms: BoundedTerms<TransactionTerms>,
): Promise<Intent> {
  const { accountId, networkId } = attempt;
  const request = { accountId, networkId, terms, ...requested(attempt, content) };
  const envelope = firstEnvelope(context, tx, request, taken);
  const stored = await insertAttemptReserved(tx, attempt, envelope, along);
  return { toSign: [{ ...stored, account: content.account }] };
}

/** Reserves the first envelope for an attempt, behind those of earlier nonces of the account. */
export async function carryNew(
  context: SignerContext,
  tx: Tx,
  carried: Carried,
  terms: BoundedTerms<TransactionTerms>,
): Promise<Intent> {
  const { above, toSign } = await carryEarlier(context, tx, carried, terms);
  return { toSign: [...toSign, await carry(context, tx, carried, terms, { above })] };
}

/**
 * Reserves another envelope for a stored attempt or for its cancellation. Returns an undecided one again, unless the
 * terms replace it, and one that is to be signed since before a crash.
 */
export async function carryOn(
  context: SignerContext,
  tx: Tx,
  carried: Carried,
  terms: BoundedTerms<TransactionTerms>,
): Promise<Intent> {
  const { attempt } = carried;
  if (attempt.kind === 'cancellation') assertCancellation(carried);
  const [before] = await reservationsOf(tx, [attempt]);
  if (before) {
    const { kind, organizationId } = attempt;
    assertReserved(context, tx, before, { kind, organizationId });
    return { toSign: [{ ...carried, reserved: before }] };
  }
  const { envelopes } = await attemptsAtNonce(tx, attempt, attempt.safeNonce);
  const own = undecidedEnvelope(envelopes.filter(({ attemptId }) => attemptId === attempt.id));
  const replaced = envelopes.find(({ id }) => String(id) === terms.replaces);
  if (own && own.id !== replaced?.id) return { toSign: [], present: own };
  if (!replaced) return carryNew(context, tx, carried, terms);
  const { toSign } = await carryEarlier(context, tx, carried, terms);
  return { toSign: [...toSign, await carry(context, tx, carried, terms, { replaces: replaced })] };
}

/** The signature of an attempt by the key of its organization. The journal has its authorization. */
async function signatureOf(context: SignerContext, { attempt, account }: Carried): Promise<Hex> {
  if (attempt.signature !== null) return attempt.signature as Hex;
  if (attempt.kind === 'transaction' && !isJournaled(context, attempt)) {
    throw new Error(`the authorization of transaction ${attempt.transactionId} is not in the journal`);
  }
  // Hashed again from the row: what is signed is what was stored.
  const hash = safeTransactionHash(safeTransactionOf(attempt, account));
  if (hash !== attempt.safeTxHash) {
    throw new SignerHold('rollback', `chain_attempts ${attempt.id} is not what its safe_tx_hash says`);
  }
  return context.keystore.organizationKey(attempt.organizationId).sign({ hash });
}

/** Signs an envelope and what it carries, and stores both signatures. Returns the envelope's id. */
async function signCarried(context: SignerContext, one: Reserved): Promise<bigint> {
  const { attempt, account, reserved } = one;
  const signature = await signatureOf(context, one);
  const call = executionCall(safeTransactionOf(attempt, account), signature);
  const along = attempt.signature === null ? [insertSignature(context.db, attempt, signature)] : [];
  return signReserved(context, reserved, call, along);
}

/**
 * Signs what is committed: first the journal has it, with one flush of the disk; then the signatures are made, outside
 * any database transaction, and stored. Returns the envelope that was asked for.
 */
export async function signIntent(
  context: SignerContext,
  { toSign, present }: Intent,
  authorization?: AuthorizationEntry,
): Promise<{ envelopeId: string }> {
  const gas = toSign.map(({ reserved, attempt: { kind, organizationId } }) =>
    gasOf(reserved, { kind, organizationId }),
  );
  const entries = [...(authorization ? [authorization] : []), ...gas];
  if (authorization) assertNotFrozen(context, authorization.organizationId);
  if (entries.length > 0) await context.gasBudget.append(...entries);
  failpoint('signer.journaled');
  let last = present?.id;
  for (const one of toSign) {
    if (one.attempt.kind === 'transaction') assertNotFrozen(context, one.attempt.organizationId);
    last = await signCarried(context, one);
  }
  if (last === undefined) throw new Error('there is nothing to sign');
  return { envelopeId: String(last) };
}
