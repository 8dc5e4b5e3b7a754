import type { Hex } from 'viem';
import { type ChainClient, rpcErrorText, transactionCount } from '../../chain/clients';
import { currentFees, isOutbid, raised } from '../../chain/fees';
import { FILLER_GAS } from '../../chain/gas';
import { envelopePayload } from '../../db/attempts';
import { type Envelope, newestEnvelopes } from '../../db/envelopes';
import { reservedNonces } from '../../db/reservations';
import { max, min } from '../../domain/bigint';
import type { EnvelopeTerms } from '../../domain/terms';
import { failpoint } from '../../failpoints';
import { fillNonce } from '../fillNonce';
import type { SignerContext } from '../signerContext';
import { isObsoleteHere } from './obsolete';

/** From when on it does what workers do otherwise, for the envelopes before its own; in milliseconds. */
const LATE_AFTER_MS = 20_000;
/** From when on it takes the nonce of an envelope that nobody carries on, in milliseconds. */
const GIVEN_UP_AFTER_MS = 60_000;

/** The terms of an envelope by the signer's own endpoint, at the next nonce of a relayer, or in place of another envelope. Throws ChainUnavailable. */
export async function ownTerms(
  chain: ChainClient,
  {
    relayerAddress,
    gas,
    replaced,
  }: { readonly relayerAddress: string; readonly gas: bigint; readonly replaced?: Envelope | undefined },
): Promise<EnvelopeTerms> {
  const [fees, chainNonce] = await Promise.all([currentFees(chain), transactionCount(chain, relayerAddress)]);
  const most = replaced ? raised(replaced.maxFeePerGas) : 0n;
  const tip = replaced ? raised(replaced.maxPriorityFeePerGas) : 0n;
  const maxFeePerGas = min(max(fees.maxFeePerGas, most), chain.network.maxFeePerGas);
  return {
    gas: String(gas),
    maxFeePerGas: String(maxFeePerGas),
    maxPriorityFeePerGas: String(min(max(fees.maxPriorityFeePerGas, tip), maxFeePerGas)),
    ...{ relayerAddress, chainNonce, head: String(fees.head) },
    ...(replaced ? { replaces: String(replaced.id) } : {}),
  };
}

/** Whether what replaces an envelope, which has to pay more, would be within the ceiling of the network. */
export function isBelowCeiling(chain: ChainClient, envelope: Pick<Envelope, 'maxFeePerGas'>): boolean {
  return raised(envelope.maxFeePerGas) <= chain.network.maxFeePerGas;
}

/** Whether an envelope pays too little by now, and more would be within the ceiling. Throws ChainUnavailable. */
async function canBeRaised(chain: ChainClient, envelope: Envelope): Promise<boolean> {
  return isBelowCeiling(chain, envelope) && isOutbid(await currentFees(chain), envelope);
}

/** Sends the bytes of an envelope. What a node says against it is logged; the next round tries again. */
async function send(
  { logger }: SignerContext,
  chain: ChainClient,
  { rawTransaction, id }: Envelope,
): Promise<void> {
  try {
    await chain.rpc.sendRawTransaction({ serializedTransaction: rawTransaction as Hex });
  } catch (error) {
    logger.debug({ networkId: chain.network.id, envelope: String(id) }, rpcErrorText(chain, error));
  }
}

/** Fills a nonce that nothing uses any more. */
async function fill(
  context: SignerContext,
  chain: ChainClient,
  at: { readonly relayerAddress: string; readonly nonce: number },
  replaced: Envelope | undefined,
): Promise<void> {
  const networkId = chain.network.id;
  const terms = await ownTerms(chain, { relayerAddress: at.relayerAddress, gas: FILLER_GAS, replaced });
  const filled = await fillNonce(context, { networkId, nonce: at.nonce, terms });
  if (!('envelopeId' in filled)) return;
  const range = { fromNonce: at.nonce, toNonce: at.nonce };
  const [filler] = await newestEnvelopes(context.db, { networkId, ...at, ...range });
  if (filler) await send(context, chain, filler);
}

/**
 * Sends what a relayer has signed before an envelope, and fills what is between: whoever holds the workers must not hold this
 * back. Returns the envelope that is next in turn, where nobody has carried that on for long.
 */
async function sendEarlier(
  context: SignerContext,
  chain: ChainClient,
  { networkId, relayerAddress, relayerNonce }: Envelope,
): Promise<Envelope | undefined> {
  const { db, upkeep } = context;
  const used = await transactionCount(chain, relayerAddress);
  if (used >= relayerNonce) return undefined;
  const of = { networkId, relayerAddress };
  const reserved = await reservedNonces(db, of);
  const earlier = await newestEnvelopes(db, { ...of, fromNonce: used, toNonce: relayerNonce - 1 });
  const last = earlier.at(-1)?.relayerNonce ?? used;
  for (let nonce = used; nonce <= last; nonce += 1) {
    const one = earlier.find((candidate) => candidate.relayerNonce === nonce);
    if (!one) {
      if (!reserved.includes(nonce)) await fill(context, chain, { relayerAddress, nonce }, undefined);
      continue;
    }
    const payload = await envelopePayload(db, one);
    if (payload.kind !== 'filler' && (await isObsoleteHere(context, db, one, payload))) {
      await fill(context, chain, { relayerAddress, nonce }, one);
    } else await send(context, chain, one);
  }
  const [next] = earlier;
  return next && next.relayerNonce === used && upkeep.waitedMs(next) > GIVEN_UP_AFTER_MS ? next : undefined;
}

/**
 * Sends an envelope of the signer's own, and while it waits those before it. Returns the envelope whose nonce it should take
 * instead: the next in turn, which pays too little and which nobody raises. Throws ChainUnavailable.
 */
export async function sendOwn(
  context: SignerContext,
  chain: ChainClient,
  envelope: Envelope,
): Promise<Envelope | undefined> {
  const isLate = context.upkeep.waitedMs(envelope) > LATE_AFTER_MS;
  const late = isLate ? await sendEarlier(context, chain, envelope) : undefined;
  await send(context, chain, envelope);
  failpoint('signer.upkeepSent');
  return late && (await canBeRaised(chain, late)) ? late : undefined;
}
