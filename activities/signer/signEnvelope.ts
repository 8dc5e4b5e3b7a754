import { type Address, type Hex, keccak256 } from 'viem';
import type { Envelope } from '../../src/db/chain';
import type { Tx } from '../../src/db/database';
import { insertReservation, type Reservation, storeReserved, takenNonces } from '../../src/db/reservations';
import type { Statement } from '../../src/db/rows';
import { failpoint } from '../../src/failpoints';
import type { GasEntry } from '../../src/journal/entries';
import { type EnvelopeTerms, min, raised } from '../relayer/terms';
import type { BoundedTerms } from './boundedTerms';
import { networkOf, type SignerContext } from './context';
import { SignerHold, SignerRefusal } from './refusal';
import { assertChosen, assertPaying, relayerKeyOf } from './relayers';

/** What the gas of an envelope is for. */
export type GasOf = Pick<GasEntry, 'kind' | 'organizationId'>;

/** The request for a nonce of a relayer and its terms. */
export interface EnvelopeRequest {
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

/** What a replacement pays at least, in percent of the fees that it replaces: nodes drop one that pays less. */
const REPLACEMENT_PERCENT = 110n;

/** Throws SignerRefusal unless it is a decimal amount. */
function amountOf(terms: EnvelopeTerms, name: 'gas' | 'maxFeePerGas' | 'maxPriorityFeePerGas'): bigint {
  if (!/^\d{1,78}$/.test(terms[name])) {
    throw new SignerRefusal('stale', `invalid ${name} "${terms[name]}" (expected a decimal integer)`);
  }
  return BigInt(terms[name]);
}

/** Throws SignerRefusal where gas is above the ceiling, or is not what the content can need. */
function cappedGas({ maxGas }: SignerContext, { terms, gas: needed }: EnvelopeRequest): bigint {
  const gas = amountOf(terms, 'gas');
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

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** The terms as numbers, within the ceilings of gas and fees and what the signer reads itself. Throws SignerRefusal. */
function cappedTerms(context: SignerContext, request: EnvelopeRequest) {
  const { networkId, terms, replaces } = request;
  const { maxFeePerGas: feeCeiling } = networkOf(context, networkId);
  const gas = cappedGas(context, request);
  const maxFeePerGas = amountOf(terms, 'maxFeePerGas');
  const maxPriorityFeePerGas = amountOf(terms, 'maxPriorityFeePerGas');
  if (maxFeePerGas > feeCeiling) {
    throw new SignerRefusal(
      'funds',
      `gas costs ${maxFeePerGas} wei, above the network's ceiling of ${feeCeiling} (maxFeePerGas)`,
    );
  }
  if (maxPriorityFeePerGas > maxFeePerGas) {
    throw new SignerRefusal(
      'funds',
      `invalid maxPriorityFeePerGas ${maxPriorityFeePerGas} (expected at most maxFeePerGas, ${maxFeePerGas})`,
    );
  }
  const least = (wei: bigint) => (wei * REPLACEMENT_PERCENT) / 100n;
  if (
    replaces &&
    (maxFeePerGas <= replaces.maxFeePerGas ||
      maxFeePerGas < least(replaces.maxFeePerGas) ||
      maxPriorityFeePerGas < least(replaces.maxPriorityFeePerGas))
  ) {
    throw new SignerRefusal(
      'funds',
      `a replacement envelope must pay ${REPLACEMENT_PERCENT} % of ${replaces.maxFeePerGas} wei with a tip of ${replaces.maxPriorityFeePerGas}, and offers ${maxFeePerGas} with ${maxPriorityFeePerGas}`,
    );
  }
  // What replaces another must pay more, whatever is usual now.
  const most = {
    maxFeePerGas: max(terms.most.maxFeePerGas, replaces ? raised(replaces.maxFeePerGas) : 0n),
    tip: max(terms.most.maxPriorityFeePerGas, replaces ? raised(replaces.maxPriorityFeePerGas) : 0n),
  };
  const fee = min(maxFeePerGas, most.maxFeePerGas);
  return { gas, maxFeePerGas: fee, maxPriorityFeePerGas: min(min(maxPriorityFeePerGas, most.tip), fee) };
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
 * Counts an envelope that was reserved before a crash, and is to be signed now. Throws SignerHold where it is above the
 * ceilings or the gas budget: the signer itself has not reserved it so.
 */
export function assertReserved(context: SignerContext, tx: Tx, reserved: Reservation, about: GasOf): void {
  const { id, networkId, gas, maxFeePerGas } = reserved;
  const network = networkOf(context, networkId);
  if (gas > context.maxGas || maxFeePerGas > network.maxFeePerGas) {
    throw new SignerHold(
      'rollback',
      `relayer_reservations ${id} has ${gas} gas at ${maxFeePerGas} wei, above the ceilings (MAX_GAS, maxFeePerGas of the network)`,
    );
  }
  context.gasBudget.claim(tx, network, gasOf(reserved, about));
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
  along: readonly Statement[] = [],
): Promise<bigint> {
  const { networkId, relayerAddress, relayerNonce, gas, maxFeePerGas, maxPriorityFeePerGas } = reserved;
  const relayer = relayerKeyOf(context, networkId, relayerAddress);
  const rawTransaction: Hex = await relayer.signTransaction({
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
  const id = await storeReserved(context.db, reserved, bytes, along);
  if (id === undefined) throw new Error(`nonce ${relayerNonce} was given up before its envelope was signed`);
  failpoint('signer.envelopeStored');
  return id;
}
