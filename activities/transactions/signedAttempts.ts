import type { Address, Hex } from 'viem';
import {
  executionCall,
  executionGas,
  type SafeTransaction,
  safeTransactionHash,
  signSafeTransaction,
} from '../../src/chain/safeTransaction';
import {
  type Attempt,
  attemptsAtNonce,
  envelopesOf,
  insertAttempt,
  undecidedBelow,
} from '../../src/db/attempts';
import type { Envelope } from '../../src/db/chain';
import type { Tx } from '../../src/db/database';
import type { StoredTransaction } from '../../src/db/transactions';
import { undecidedEnvelope } from '../relayer/envelopes';
import type { EnvelopeTerms } from '../relayer/terms';
import type { SignerContext } from '../signer/context';
import type { SigningResult } from '../signer/refusal';
import { signEnvelope } from '../signer/signEnvelope';
import { gasAfterReverts, MAX_WHOLE_REVERTS } from './gasAfterReverts';
import type { TransactionTerms } from './observation';

/** Signs a transaction of an account with the key of its organization, and stores it before its first envelope. */
export async function signAttempt(
  { keystore }: SignerContext,
  tx: Tx,
  record: StoredTransaction,
  attempt: { kind: Attempt['kind']; content: SafeTransaction; fromBlock: bigint },
): Promise<Attempt> {
  const { kind, content, fromBlock } = attempt;
  const owner = keystore.organizationKey(record.organizationId);
  return insertAttempt(tx, {
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
    signature: await signSafeTransaction(owner, content),
    fromBlock,
  });
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

/** An attempt that an account's key has signed. */
interface Carried {
  readonly attempt: Attempt;
  readonly account: Address;
}

/** Signs an envelope for a signed attempt, and stores it. Returns its id. */
async function carry(
  context: SignerContext,
  tx: Tx,
  { attempt, account }: Carried,
  terms: EnvelopeTerms,
  at: { replaces?: Envelope; above?: number },
): Promise<bigint> {
  const content = safeTransactionOf(attempt, account);
  return signEnvelope(context, tx, {
    attemptId: attempt.id,
    networkId: attempt.networkId,
    call: executionCall(content, attempt.signature as Hex),
    terms,
    gas: { least: executionGas(content), most: gasAfterReverts(content, MAX_WHOLE_REVERTS) },
    ...at,
  });
}

/**
 * Signs an envelope for each attempt at an earlier nonce of the account that has none, in order. Returns
 * the highest relayer nonce among them: a later account nonce needs a later relayer nonce.
 */
async function carryEarlier(
  context: SignerContext,
  tx: Tx,
  { attempt, account }: Carried,
  terms: TransactionTerms,
): Promise<number> {
  let above = -1;
  const undecided = await undecidedBelow(tx, attempt, attempt.safeNonce);
  const earlier = undecided.filter(({ safeNonce }) => safeNonce >= BigInt(terms.accountNonce));
  const envelopes = await envelopesOf(tx, earlier);
  for (const nonce of new Set(earlier.map(({ safeNonce }) => safeNonce))) {
    const attempts = earlier.filter(({ safeNonce }) => safeNonce === nonce);
    const live = envelopes.filter(
      ({ attemptId, outcome }) => outcome === null && attempts.some(({ id }) => id === attemptId),
    );
    above = Math.max(above, ...live.map(({ relayerNonce }) => relayerNonce));
    // A cancellation is the newer of two at one nonce.
    const wanted = attempts.at(-1);
    if (live.length > 0 || !wanted) continue;
    const gas = String(executionGas({ safeTxGas: wanted.safeTxGas, data: wanted.data as Hex }));
    const id = await carry(context, tx, { attempt: wanted, account }, { ...terms, gas }, { above });
    const stored = (await envelopesOf(tx, [wanted])).find((one) => one.id === id);
    above = Math.max(above, stored?.relayerNonce ?? -1);
  }
  return above;
}

/** Signs the first envelope for an attempt, behind those of earlier nonces of the account. */
export async function carryNew(
  context: SignerContext,
  tx: Tx,
  carried: Carried,
  terms: TransactionTerms,
): Promise<SigningResult> {
  const above = await carryEarlier(context, tx, carried, terms);
  return { envelopeId: String(await carry(context, tx, carried, terms, { above })) };
}

/**
 * Signs another envelope for a signed attempt or for its cancellation.
 * Returns an undecided one again, unless the terms replace it.
 */
export async function carryOn(
  context: SignerContext,
  tx: Tx,
  carried: Carried,
  terms: TransactionTerms,
): Promise<SigningResult> {
  const { attempt } = carried;
  const envelopes = await envelopesOf(tx, await attemptsAtNonce(tx, attempt, attempt.safeNonce));
  const own = undecidedEnvelope(envelopes.filter(({ attemptId }) => attemptId === attempt.id));
  const replaced = envelopes.find(({ id }) => String(id) === terms.replaces);
  if (own && own.id !== replaced?.id) return { envelopeId: String(own.id) };
  if (!replaced) return carryNew(context, tx, carried, terms);
  await carryEarlier(context, tx, carried, terms);
  return { envelopeId: String(await carry(context, tx, carried, terms, { replaces: replaced })) };
}
