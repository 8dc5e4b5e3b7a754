import { type ChainClient, transactionCount } from '../../src/chain/clients';
import { envelopePayload } from '../../src/db/attempts';
import { newestEnvelopes } from '../../src/db/envelopes';
import { listRelayers } from '../../src/db/relayers';
import type { Logger } from '../../src/logging';
import type { RelayerContext } from '../relayer/relayerContext';
import { sendEnvelope, TransactionRejected } from '../relayer/send';

/** Sends again what is lost of one relayer. Throws ChainUnavailable or TransactionRejected. */
async function resendOf(
  context: RelayerContext,
  chain: ChainClient,
  relayerAddress: string,
): Promise<number> {
  const { db } = context;
  const lost = await newestEnvelopes(db, {
    networkId: chain.network.id,
    relayerAddress,
    fromNonce: await transactionCount(chain, relayerAddress),
    toNonce: Number.MAX_SAFE_INTEGER,
  });
  let count = 0;
  // The workflow of an undecided deployment sends it, and knows whether it still may.
  for (const envelope of lost.filter(({ outcome }) => outcome === 'mined' || outcome === 'reverted')) {
    // A lost transaction of an account is checked before it is sent again.
    if ((await envelopePayload(db, envelope)).kind !== 'deployment') continue;
    await sendEnvelope(context, chain, envelope);
    count += 1;
  }
  return count;
}

/**
 * Sends again the confirmed deployments whose blocks a network has lost (a reorganization, a node restored from an older
 * state), in the order of their nonces. Returns how many. Throws ChainUnavailable.
 */
export async function resendLostDeployments(
  context: RelayerContext,
  networkId: number,
  logger: Logger,
): Promise<number> {
  const chain = context.chains.get(networkId);
  if (!chain) return 0;
  let count = 0;
  for (const { address } of await listRelayers(context.db, networkId)) {
    try {
      count += await resendOf(context, chain, address);
    } catch (error) {
      // One whose balance is too low holds up no other.
      if (!(error instanceof TransactionRejected)) throw error;
      logger.warn(
        { networkId, relayer: address, reason: error.message },
        'a lost transaction cannot be sent again',
      );
    }
  }
  return count;
}
