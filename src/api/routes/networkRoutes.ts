import type { NetworkConfig } from '../../config';
import { listNetworksEndpoint } from '../../contract/networkContract';
import { shortNameOf } from '../../domain/chainShortName';
import { type Route, readRoute } from '../requestContext';

/** GET /networks. */
export function networkRoutes(networks: readonly NetworkConfig[]): Route[] {
  const data = networks.map((network) => {
    const { id, name, nativeAsset, explorerUrl, walletRpcUrl } = network;
    const shortName = shortNameOf(network);
    return {
      id,
      name,
      ...(shortName === undefined ? {} : { shortName }),
      nativeAsset: { ...nativeAsset },
      ...(explorerUrl === undefined ? {} : { explorerUrl }),
      ...(walletRpcUrl === undefined ? {} : { walletRpcUrl }),
    };
  });
  return [readRoute(listNetworksEndpoint, async () => ({ data }))];
}
