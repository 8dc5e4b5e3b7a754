import type { NetworkConfig } from './config';
import { keepPolling } from './keepPolling';
import { failuresOfNetworks } from './lastingFailure';
import type { Logger } from './logging';

const POLL_EVERY_MS = 15_000;

/** Polls every network for lost blocks, and sends their transactions again. Returns the function that stops it. */
export function watchLostBlocks(
  networks: readonly NetworkConfig[],
  resendLost: (networkId: number) => Promise<number>,
  logger: Logger,
): () => Promise<void> {
  const failure = failuresOfNetworks(logger, networks, 'the network cannot be checked for lost blocks');
  return keepPolling(networks, POLL_EVERY_MS, async ({ id: networkId }) => {
    try {
      const count = await resendLost(networkId);
      failure(networkId).succeeded();
      if (count > 0)
        logger.warn({ networkId, count }, 'the network has lost blocks; transactions sent again');
    } catch (error) {
      failure(networkId).failed(error);
    }
  });
}
