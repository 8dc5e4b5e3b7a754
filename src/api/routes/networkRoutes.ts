import type { NetworkConfig } from '../../config';
import { listNetworksEndpoint } from '../../contract/networkContract';
import { type Route, readRoute } from '../requestContext';

/** GET /networks. */
export function networkRoutes(networks: readonly NetworkConfig[]): Route[] {
  const data = networks.map(({ id, name, nativeAsset, explorerUrl, walletRpcUrl }) => ({
    id,
    name,
    nativeAsset: { ...nativeAsset },
    ...(explorerUrl === undefined ? {} : { explorerUrl }),
    ...(walletRpcUrl === undefined ? {} : { walletRpcUrl }),
  }));
  return [readRoute(listNetworksEndpoint, async () => ({ data }))];
}
