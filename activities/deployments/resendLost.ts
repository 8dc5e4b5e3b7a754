import { transactionCount } from '../../src/chain/clients';
import { carriedBy } from '../../src/db/attempts';
import { listRelayers, newestEnvelopes } from '../../src/db/chain';
import type { RelayerContext } from '../relayer/context';
import { send } from '../relayer/send';

/**
 * Sends again the confirmed deployments whose blocks a network has lost (a reorganization, a node restored from an older
 * state), in the order of their nonces. Returns how many. Throws ChainUnavailable.
 */
export async function resendLostDeployments(context: RelayerContext, networkId: number): Promise<number> {
  const { db } = context;
  const chain = context.chains.get(networkId);
  if (!chain) return 0;
  let count = 0;
  for (const { address } of await listRelayers(db, networkId)) {
    const lost = await newestEnvelopes(db, {
      networkId,
      relayerAddress: address,
      fromNonce: await transactionCount(chain, address),
      toNonce: Number.MAX_SAFE_INTEGER,
    });
    // The workflow of an undecided deployment sends it, and knows whether it still may.
    for (const envelope of lost.filter(({ outcome }) => outcome === 'mined' || outcome === 'reverted')) {
      // A lost transaction of an account is checked before it is sent again.
      if ((await carriedBy(db, envelope)).kind !== 'deployment') continue;
      await send(context, chain, envelope);
      count += 1;
    }
  }
  return count;
}
