import type { NetworkConfig } from '../../config';
import { listNetworksEndpoint } from '../../contract/networks';
import { type Route, readRoute } from '../context';

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
