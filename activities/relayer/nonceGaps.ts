import { type ChainClient, transactionCount } from '../../src/chain/clients';
import { currentFees } from '../../src/chain/fees';
import { FILLER_GAS } from '../../src/chain/gas';
import { envelopePayload } from '../../src/db/attempts';
import type { Db } from '../../src/db/database';
import type { Envelope } from '../../src/db/envelopes';
import { newestEnvelopes } from '../../src/db/envelopes';
import { reservedNonces } from '../../src/db/reservations';
import { isObsolete } from '../../src/domain/obsolete';
import type { EnvelopeTerms } from '../../src/domain/terms';
import { newEnvelopeTerms, replacementTerms } from './terms';

/** An unused nonce of a relayer that later envelopes wait for. */
export interface NonceGap {
  readonly relayerAddress: string;
  readonly nonce: number;
  /** The obsolete envelope at this nonce, whose fee is too low; undefined where there is none. */
  readonly obsolete?: Envelope;
}

/** Terms of the empty transfer that fills a gap; null when fees are above the ceiling. Throws ChainUnavailable. */
export async function gapTerms(
  chain: ChainClient,
  { relayerAddress, nonce: chainNonce, obsolete }: NonceGap,
): Promise<EnvelopeTerms | null> {
  const fees = await currentFees(chain);
  if (obsolete) return replacementTerms(chain, fees, obsolete, FILLER_GAS);
  if (fees.baseFee > chain.network.maxFeePerGas) return null;
  return newEnvelopeTerms(fees, FILLER_GAS, { relayerAddress, chainNonce });
}

/** What keeps an envelope out of a block: a gap, other envelopes that are followed, or nothing before it. */
export async function findBlocker(
  db: Db,
  chain: ChainClient,
  envelope: Envelope,
): Promise<NonceGap | 'others' | 'nothing'> {
  const { networkId, relayerAddress, relayerNonce } = envelope;
  const used = await transactionCount(chain, relayerAddress);
  if (used === relayerNonce) return 'nothing';
  // Its nonce was used, without enough confirmations yet.
  if (used > relayerNonce) return 'others';
  const reserved = await reservedNonces(db, { networkId, relayerAddress });
  const [first] = await newestEnvelopes(db, { networkId, relayerAddress, fromNonce: used, toNonce: used });
  const gap = { relayerAddress, nonce: used };
  if (!first) return reserved.includes(used) ? 'others' : gap;
  return isObsolete(await envelopePayload(db, first)) ? { ...gap, obsolete: first } : 'others';
}
