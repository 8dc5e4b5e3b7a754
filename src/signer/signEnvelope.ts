import type { Address, Hex } from 'viem';
import { LEAST_REPLACEMENT_PERCENT, leastReplacement, raised } from '../chain/fees';
import { keccak256 } from '../chain/keccak';
import { gasPriceText } from '../chain/nativeAmount';
import { readRawTransaction } from '../chain/rawTransaction';
import type { Tx } from '../db/database';
import type { Envelope } from '../db/envelopes';
import type { Reservation } from '../db/reservations';
import type { Statement } from '../db/rows';
import { max, min } from '../domain/bigint';
import { failpoint } from '../failpoints';
import type { BoundedTerms } from './boundedTerms';
import type { GasEntry } from './journal/entries';
import { ROLLED_BACK, SignerRefusal, TemporaryRefusal } from './refusal';
import { assertChosen, assertPaying, relayerKeyOf } from './relayerKeys';
import { networkOf, type SignerContext } from './signerContext';
import { insertReservation, storeReserved, takenNonces } from './store/reservations';
import { envelopeAtNonce } from './store/signedAttempts';

/** What the gas of an envelope is for. */
export type GasOf = Pick<GasEntry, 'kind' | 'organizationId'>;

/** The request for a nonce of a relayer and its terms. */
interface EnvelopeRequest {
  readonly about: GasOf;
  readonly networkId: number;
  /** The account that it is for; absent: a filler, which is its relayer's own. */
  readonly accountId?: string;
  readonly terms: BoundedTerms;
  /** The gas that its content can need. */
  readonly gas?: { readonly least: bigint; readonly most: bigint };
  /** The envelope that the new one replaces at its nonce, with a higher fee. */
  readonly replaces?: Envelope;
  /** The nonce, where it is not the next free one. */
  readonly at?: number;
  /** The next free nonce is above this one. */
  readonly above?: number;
}

/** Throws SignerRefusal where gas is above the ceiling, or is not what the content can need. */
function cappedGas({ maxGas }: SignerContext, { terms, gas: needed }: EnvelopeRequest): bigint {
  const gas = BigInt(terms.gas);
  if (gas > maxGas) {
    throw new SignerRefusal('reverted', `needs ${gas} gas, above the ceiling of ${maxGas} (MAX_GAS)`);
  }
  if (needed && (gas < needed.least || gas > needed.most)) {
    throw new SignerRefusal(
      'stale',
      `gas ${gas} is not what the transaction needs (expected ${needed.least} to ${needed.most})`,
    );
  }
  return gas;
}

/** The highest fees of an envelope: what the signer reads itself; what replaces another must pay more, whatever is usual now. */
function feeLimit(
  { most }: BoundedTerms,
  replaces: Pick<Envelope, 'maxFeePerGas' | 'maxPriorityFeePerGas'> | undefined,
) {
  return {
    maxFeePerGas: max(most.maxFeePerGas, replaces ? raised(replaces.maxFeePerGas) : 0n),
    tip: max(most.maxPriorityFeePerGas, replaces ? raised(replaces.maxPriorityFeePerGas) : 0n),
  };
}

/** Throws TemporaryRefusal unless a stored envelope has the nonce and the fees that its relayer has signed. */
async function assertAsSigned(context: SignerContext, networkId: number, envelope: Envelope): Promise<void> {
  const { id, relayerAddress, relayerNonce, maxFeePerGas, maxPriorityFeePerGas } = envelope;
  const { address } = relayerKeyOf(context, networkId, relayerAddress);
  const isSame = async () => {
    const { transaction: signed, signer } = await readRawTransaction(envelope.rawTransaction as Hex);
    return (
      signed.chainId === networkId &&
      (signed.nonce ?? 0) === relayerNonce &&
      signed.maxFeePerGas === maxFeePerGas &&
      (signed.maxPriorityFeePerGas ?? 0n) === maxPriorityFeePerGas &&
      signer === address
    );
  };
  if (await isSame().catch(() => false)) return;
  throw new TemporaryRefusal('rollback', `chain_envelopes ${id} is not what its bytes say: ${ROLLED_BACK}`);
}

/** The terms as numbers, within the ceilings of gas and fees and what the signer reads itself. Throws SignerRefusal. */
function cappedTerms(context: SignerContext, request: EnvelopeRequest) {
  const { networkId, terms, replaces } = request;
  const { maxFeePerGas: feeCeiling } = networkOf(context, networkId);
  const gas = cappedGas(context, request);
  const maxFeePerGas = BigInt(terms.maxFeePerGas);
  const maxPriorityFeePerGas = BigInt(terms.maxPriorityFeePerGas);
  if (maxFeePerGas > feeCeiling) {
    throw new SignerRefusal(
      'feeCeiling',
      `gas costs ${gasPriceText(maxFeePerGas)}, above the network's ceiling of ${gasPriceText(feeCeiling)} (maxFeePerGas)`,
    );
  }
  if (maxPriorityFeePerGas > maxFeePerGas) {
    throw new SignerRefusal(
      'stale',
      `invalid maxPriorityFeePerGas ${gasPriceText(maxPriorityFeePerGas)} (expected at most maxFeePerGas, ${gasPriceText(maxFeePerGas)})`,
    );
  }
  if (
    replaces &&
    (maxFeePerGas <= replaces.maxFeePerGas ||
      maxFeePerGas < leastReplacement(replaces.maxFeePerGas) ||
      maxPriorityFeePerGas < leastReplacement(replaces.maxPriorityFeePerGas))
  ) {
    throw new SignerRefusal(
      'stale',
      `a replacement envelope must pay ${LEAST_REPLACEMENT_PERCENT} % of ${gasPriceText(replaces.maxFeePerGas)} with a tip of ${gasPriceText(replaces.maxPriorityFeePerGas)}, and offers ${gasPriceText(maxFeePerGas)} with ${gasPriceText(maxPriorityFeePerGas)}`,
    );
  }
  const most = feeLimit(terms, replaces);
  const fee = min(maxFeePerGas, most.maxFeePerGas);
  return { gas, maxFeePerGas: fee, maxPriorityFeePerGas: min(min(maxPriorityFeePerGas, most.tip), fee) };
}

/** So many nonces of a relayer can be taken that are not in the journal: being signed for, or reserved before a crash. */
const MOST_UNJOURNALED = 256;

/**
 * Throws TemporaryRefusal for a nonce of a relayer far above those in the journal and on the chain, by the signer's own endpoints:
 * rows that take what is between are not its own, and an envelope there would wait for ever.
 */
function assertNear(
  { journal }: SignerContext,
  { networkId, terms }: EnvelopeRequest,
  relayerAddress: string,
  nonce: number,
): void {
  const known = Math.max(
    journal.highestRelayerNonce({ networkId, relayerAddress }) ?? -1,
    relayerAddress === terms.relayerAddress ? terms.chainNonce : -1,
  );
  if (Number.isSafeInteger(nonce) && nonce >= 0 && nonce <= known + MOST_UNJOURNALED) return;
  throw new TemporaryRefusal(
    'rollback',
    `nonce ${nonce} of relayer ${relayerAddress} on network ${networkId} is too far above ${known}: relayer_reservations or chain_envelopes has rows that are not of this signer: ${ROLLED_BACK}`,
  );
}

/** The first nonce from one on that is not taken. */
function freeNonce(taken: ReadonlySet<number>, from: number): number {
  let nonce = from;
  while (taken.has(nonce)) nonce += 1;
  return nonce;
}

async function nonceFor(tx: Tx, relayerAddress: string, request: EnvelopeRequest): Promise<number> {
  const { networkId, terms, replaces, at, above = -1 } = request;
  const given = replaces?.relayerNonce ?? at;
  if (given !== undefined) return given;
  const from = Math.max(terms.chainNonce, above + 1);
  return freeNonce(await takenNonces(tx, { networkId, relayerAddress, from }), from);
}

/** What is to be reserved, within the ceilings, its gas counted. */
function reserving(context: SignerContext, tx: Tx, request: EnvelopeRequest, relayerNonce: number) {
  const { networkId, about, replaces } = request;
  const { relayerAddress } = replaces ?? request.terms;
  assertNear(context, request, relayerAddress, relayerNonce);
  const planned = { networkId, relayerAddress, relayerNonce, ...cappedTerms(context, request) };
  context.gasBudget.claim(tx, networkOf(context, networkId), gasOf(planned, about));
  return planned;
}

/**
 * Reserves a nonce of a relayer for an envelope, within the ceilings of gas and fees and the gas budget: of the one of the
 * envelope that it replaces, else of the one that pays for the account. Call it inside `withNetwork`; sign it when that is
 * committed. Throws SignerRefusal.
 */
export async function reserveEnvelope(
  context: SignerContext,
  tx: Tx,
  { attemptId, ...request }: EnvelopeRequest & { readonly attemptId: bigint },
): Promise<Reservation> {
  const { networkId, accountId, replaces, terms } = request;
  if (replaces) await assertAsSigned(context, networkId, replaces);
  if (accountId !== undefined && !replaces) await assertChosen(context, tx, { networkId, accountId, terms });
  const { relayerAddress } = replaces ?? terms;
  const nonce = await nonceFor(tx, relayerAddress, request);
  return insertReservation(tx, { attemptId, ...reserving(context, tx, request, nonce) });
}

/**
 * What `reserveEnvelope` would reserve for an account of which nothing is undecided, to be stored with the attempt.
 * `taken`: nonces of the relayer from `terms.chainNonce` on. Throws SignerRefusal.
 */
export function firstEnvelope(
  context: SignerContext,
  tx: Tx,
  request: EnvelopeRequest & { readonly accountId: string },
  taken: ReadonlySet<number>,
): Omit<Reservation, 'id' | 'attemptId'> {
  assertPaying(context, request, undefined);
  return reserving(context, tx, request, freeNonce(taken, request.terms.chainNonce));
}

/**
 * What was reserved before a crash, and is to be signed now for what is requested; its gas is counted. Throws TemporaryRefusal
 * for a row that the signer has not reserved so: of another attempt or network, or above what it would reserve.
 */
export async function reservedBefore(
  context: SignerContext,
  tx: Tx,
  request: EnvelopeRequest & { readonly attemptId: bigint },
  reserved: Reservation,
): Promise<Reservation> {
  const { networkId, attemptId, about, gas: needed } = request;
  const { id, relayerAddress, relayerNonce, gas } = reserved;
  const network = networkOf(context, networkId);
  relayerKeyOf(context, networkId, relayerAddress);
  const isOwn =
    reserved.networkId === networkId &&
    reserved.attemptId === attemptId &&
    gas <= context.maxGas &&
    (!needed || (gas >= needed.least && gas <= needed.most)) &&
    reserved.maxFeePerGas <= network.maxFeePerGas;
  if (!isOwn) {
    throw new TemporaryRefusal(
      'rollback',
      `relayer_reservations ${id} is not what the signer reserves: ${gas} gas at ${gasPriceText(reserved.maxFeePerGas)} for attempt ${reserved.attemptId} on network ${reserved.networkId}: ${ROLLED_BACK}`,
    );
  }
  assertNear(context, request, relayerAddress, relayerNonce);
  const replaced = await envelopeAtNonce(tx, { networkId, relayerAddress, nonce: relayerNonce });
  if (replaced) await assertAsSigned(context, networkId, replaced);
  const most = feeLimit(request.terms, replaced);
  const maxFeePerGas = min(reserved.maxFeePerGas, most.maxFeePerGas);
  const maxPriorityFeePerGas = min(min(reserved.maxPriorityFeePerGas, most.tip), maxFeePerGas);
  const own = { ...reserved, maxFeePerGas, maxPriorityFeePerGas };
  context.gasBudget.claim(tx, network, gasOf(own, about));
  return own;
}

/** The gas of an envelope, for the journal. */
export function gasOf(reserved: Omit<Reservation, 'id' | 'attemptId'>, about: GasOf): GasEntry {
  const { networkId, relayerAddress, relayerNonce, gas, maxFeePerGas } = reserved;
  const amounts = { gas: String(gas), maxFeePerGas: String(maxFeePerGas) };
  return { type: 'gas', ...about, networkId, relayerAddress, relayerNonce, ...amounts };
}

/**
 * Signs a reserved envelope and stores it, and other statements in the same round trip, outside any database transaction:
 * a signature may take a while. Returns its id. Throws when the reservation has ended meanwhile.
 */
export async function signReserved(
  context: SignerContext,
  reserved: Reservation,
  call: { readonly to: Address; readonly data: Hex },
  batch: readonly Statement[] = [],
): Promise<bigint> {
  const { networkId, relayerAddress, relayerNonce, gas, maxFeePerGas, maxPriorityFeePerGas } = reserved;
  const relayer = relayerKeyOf(context, networkId, relayerAddress);
  const rawTransaction = await relayer.signTransaction({
    type: 'eip1559',
    chainId: networkId,
    nonce: relayerNonce,
    to: call.to,
    data: call.data,
    value: 0n,
    gas,
    maxFeePerGas,
    maxPriorityFeePerGas,
  });
  const bytes = { rawTransaction, transactionHash: keccak256(rawTransaction) };
  const id = await storeReserved(context.db, reserved, bytes, { batch, hold: context.journal.hold() });
  if (id === undefined) {
    throw new Error(
      `nonce ${relayerNonce} was given up, or another signer has taken over, before its envelope was stored`,
    );
  }
  failpoint('signer.envelopeStored');
  return id;
}
