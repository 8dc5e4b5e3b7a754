import { type Chain, createPublicClient, defineChain, http, type PublicClient } from 'viem';
import type { NetworkConfig } from '../config';

/** A network did not answer. Nothing was decided; ask again. */
export class ChainUnavailable extends Error {
  override readonly name = 'ChainUnavailable';
  constructor(
    readonly networkId: number,
    networkName: string,
    cause: unknown,
  ) {
    super(`network ${networkName} (${networkId}) does not answer`, { cause });
  }
}

const REQUEST_TIMEOUT_MS = 3_000;

/** A network with the client that reaches it. */
export interface NetworkClient {
  readonly network: NetworkConfig;
  readonly client: PublicClient;
}

/** The chain definition that viem wants. */
export function chainOf(network: NetworkConfig): Chain {
  return defineChain({
    id: network.id,
    name: network.name,
    nativeCurrency: network.nativeAsset,
    rpcUrls: { default: { http: [network.rpcUrl] } },
  });
}

/** One client per network; a request takes at most 3 s and is tried once more. */
export function createNetworkClients(networks: readonly NetworkConfig[]): ReadonlyMap<number, NetworkClient> {
  return new Map(
    networks.map((network) => {
      const client = createPublicClient({
        chain: chainOf(network),
        transport: http(network.rpcUrl, { timeout: REQUEST_TIMEOUT_MS, retryCount: 1, retryDelay: 100 }),
        cacheTime: 0,
        pollingInterval: 200,
      }) as PublicClient;
      return [network.id, { network, client }];
    }),
  );
}
