import { transactionCount } from '../../src/chain/clients';
import { highestRelayerNonce } from '../../src/db/chain';
import { currentFees, type EnvelopeTerms, type Fees, min } from '../relayer/terms';
import { networkOf, type SignerContext } from './context';
import { SignerRefusal } from './refusal';
import { relayerKeyOf } from './relayers';

/** The highest fees of a new envelope, in wei. */
type FeeLimit = Pick<Fees, 'maxFeePerGas' | 'maxPriorityFeePerGas'>;

/** Terms that a message asks for, and the highest fees that the signer signs for them. */
export type BoundedTerms<T extends EnvelopeTerms = EnvelopeTerms> = T & { readonly most: FeeLimit };

/**
 * The fees of a network by the signer's own endpoints, of a while ago and not before `since`, the lowest of those that answer; without endpoints, the ceiling.
 * Throws ChainUnavailable when none answers.
 */
async function readFees(context: SignerContext, networkId: number, since: number): Promise<FeeLimit> {
  const network = networkOf(context, networkId);
  const { maxFeePerGas: ceiling } = network;
  const endpoints = context.endpointsOf(network);
  if (endpoints.length === 0) return { maxFeePerGas: ceiling, maxPriorityFeePerGas: ceiling };
  const answers = await Promise.allSettled(
    endpoints.map((chain, place) =>
      context.fees.read(`${networkId}/${place}`, () => currentFees(chain), since),
    ),
  );
  const read = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const failed = answers.find((answer) => answer.status === 'rejected');
  if (read.length === 0) throw failed?.reason;
  return {
    maxFeePerGas: read.map(({ maxFeePerGas: wei }) => wei).reduce(min),
    maxPriorityFeePerGas: read.map(({ maxPriorityFeePerGas: wei }) => wei).reduce(min),
  };
}

/** Whether terms ask for no more than a limit, as far as they are amounts. */
function isWithin(terms: EnvelopeTerms, most: FeeLimit): boolean {
  const isAtMost = (name: keyof FeeLimit) =>
    /^\d{1,78}$/.test(terms[name]) && BigInt(terms[name]) <= most[name];
  return isAtMost('maxFeePerGas') && isAtMost('maxPriorityFeePerGas');
}

/**
 * Bounds fees by what the signer reads itself: a message can lower them, and not raise them. What it has read a while ago
 * will do for a message that asks for no more. Throws ChainUnavailable.
 */
export async function boundFees<T extends EnvelopeTerms>(
  context: SignerContext,
  networkId: number,
  terms: T,
): Promise<BoundedTerms<T>> {
  const lately = await readFees(context, networkId, 0);
  const most = isWithin(terms, lately) ? lately : await readFees(context, networkId, performance.now());
  return { ...terms, most };
}

/**
 * Throws SignerRefusal for a nonce of the relayer above those that the signer has signed, unless all of its own endpoints
 * have that many transactions in blocks: an envelope at a later nonce would wait for ever. Throws ChainUnavailable.
 */
async function assertChainNonce(
  context: SignerContext,
  networkId: number,
  terms: EnvelopeTerms,
): Promise<void> {
  const { chainNonce } = terms;
  if (!Number.isSafeInteger(chainNonce) || chainNonce < 0) {
    throw new SignerRefusal('stale', `invalid nonce ${chainNonce} (expected an integer from 0)`);
  }
  const network = networkOf(context, networkId);
  const { address: relayerAddress } = relayerKeyOf(context, networkId, terms.relayerAddress);
  const relayer = { networkId, relayerAddress };
  const journaled = context.journal.highestRelayerNonce(relayer) ?? -1;
  if (chainNonce <= journaled + 1) return;
  const highest = Math.max(journaled, (await highestRelayerNonce(context.db, relayer)) ?? -1);
  if (chainNonce <= highest + 1) return;
  const endpoints = context.endpointsOf(network);
  const counts = await Promise.all(endpoints.map((chain) => transactionCount(chain, relayerAddress)));
  if (counts.length > 0 && counts.every((count) => count >= chainNonce)) return;
  const read =
    counts.length > 0 ? `its own endpoints have ${Math.min(...counts)}` : 'it has no signerRpcUrls to ask';
  throw new SignerRefusal(
    'stale',
    `nonce ${chainNonce} of relayer ${relayerAddress} on ${network.name} is too high: the signer has signed up to ${highest < 0 ? 'none' : highest}, and ${read}`,
  );
}

/** Bounds the terms of an envelope at a new nonce. Throws SignerRefusal or ChainUnavailable. */
export async function boundTerms<T extends EnvelopeTerms>(
  context: SignerContext,
  networkId: number,
  terms: T,
): Promise<BoundedTerms<T>> {
  await assertChainNonce(context, networkId, terms);
  return boundFees(context, networkId, terms);
}
