import {
  type Address,
  BaseError,
  createPublicClient,
  defineChain,
  type Hex,
  type PublicClient,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from 'viem';
import type { NetworkConfig } from '../config';
import { type EndpointResult, failover } from './failover';

/** How to reach one network. */
export interface ChainClient {
  readonly network: NetworkConfig;
  readonly rpc: PublicClient;
}

/** A network is unavailable: its RPC does not answer, is too slow, or answers with an error. */
export class ChainUnavailable extends Error {
  override readonly name = 'ChainUnavailable';
  /** Without its endpoints, whose paths may hold secrets: errors are logged, and stored in histories. */
  readonly network: Pick<NetworkConfig, 'id' | 'name'>;
  /** It has no cause: those of viem name the endpoint. */
  constructor({ id, name }: Pick<NetworkConfig, 'id' | 'name'>, reason: string) {
    super(`network ${name} (${id}) is unavailable: ${reason}`);
    this.network = { id, name };
  }
}

/** How long the service waits for an endpoint, in milliseconds. */
export const READ_TIMEOUT_MS = 3_000;

/** Is notified of each request to an endpoint of a network; `host` is that of the endpoint. */
export type ObserveRpc = (request: { networkId: number; host: string; result: EndpointResult }) => void;

/** Creates a client that asks the endpoints of a network in their order (see `failover`), without a cache. */
export function createChainClient(
  network: NetworkConfig,
  {
    timeoutMs = READ_TIMEOUT_MS,
    observe = () => undefined,
  }: { readonly timeoutMs?: number; readonly observe?: ObserveRpc | undefined } = {},
): ChainClient {
  const { id, name, nativeAsset, rpcUrls, rpcBatchSize: batchSize = 1 } = network;
  const chain = defineChain({
    id,
    name,
    nativeCurrency: { ...nativeAsset },
    rpcUrls: { default: { http: [...rpcUrls] } },
  });
  const transport = failover(rpcUrls, {
    timeoutMs,
    batchSize,
    observe: (host, result) => observe({ networkId: id, host, result }),
  });
  return { network, rpc: createPublicClient({ chain, cacheTime: 0, transport }) };
}

/** The clients of the configured networks, by chain id. */
export type ChainClients = ReadonlyMap<number, ChainClient>;

/** Creates a client for each network. */
export function createChainClients(networks: readonly NetworkConfig[], observe?: ObserveRpc): ChainClients {
  return new Map(networks.map((network) => [network.id, createChainClient(network, { observe })]));
}

/** Shorter parts of an address are not keys. */
const SHORTEST_KEY = 8;

/** A text without what the addresses of endpoints contain beside their hosts: a provider may repeat its key. */
function withoutKeys({ network: { rpcUrls, signerRpcUrls } }: ChainClient, text: string): string {
  const parts = [...rpcUrls, ...signerRpcUrls].flatMap((address) => {
    const { username, password, pathname, searchParams } = new URL(address);
    return [username, password, ...pathname.split('/'), ...searchParams.values()];
  });
  const keys = parts.filter(({ length }) => length >= SHORTEST_KEY);
  return keys.reduce((rest, key) => rest.replaceAll(key, '[redacted]'), text);
}

/** Why an RPC call failed, in one line without the request and without the keys of endpoints. */
export function rpcErrorText(client: ChainClient, error: unknown): string {
  if (!(error instanceof BaseError)) {
    return withoutKeys(client, error instanceof Error ? error.message : String(error));
  }
  const details = error.details?.split('\n')[0];
  const short = error.shortMessage.split('\n')[0] ?? error.name;
  return withoutKeys(client, details && !short.includes(details) ? `${short} (${details})` : short);
}

/** Sends a request that the network answers when it is available. Throws ChainUnavailable, and nothing else. */
export async function ask<T>(client: ChainClient, question: (rpc: PublicClient) => Promise<T>): Promise<T> {
  try {
    return await question(client.rpc);
  } catch (error) {
    if (error instanceof ChainUnavailable) throw error;
    throw new ChainUnavailable(client.network, rpcErrorText(client, error));
  }
}

/** The receipt of a transaction, or null while it is in no block. Throws ChainUnavailable. */
export async function receiptOf(client: ChainClient, hash: string): Promise<TransactionReceipt | null> {
  return ask(client, async (rpc) => {
    try {
      return await rpc.getTransactionReceipt({ hash: hash as Hex });
    } catch (error) {
      if (error instanceof TransactionReceiptNotFoundError) return null;
      throw error;
    }
  });
}

/** A network as error messages name it. */
export function networkLabel({ network }: Pick<ChainClient, 'network'>): string {
  return `${network.name} (${network.id})`;
}

/** When clients were last found to serve their chain, by `performance.now()`. */
const servedAt = new WeakMap<ChainClient, number>();

/**
 * Throws ChainUnavailable unless the RPC serves the chain that it is configured for. `withinMs`: that it did so long ago
 * is enough.
 */
export async function assertChainId(
  chain: ChainClient,
  { withinMs = 0 }: { readonly withinMs?: number } = {},
): Promise<void> {
  const before = servedAt.get(chain);
  if (before !== undefined && performance.now() - before < withinMs) return;
  const chainId = await ask(chain, (rpc) => rpc.getChainId());
  if (chainId !== chain.network.id) {
    servedAt.delete(chain);
    throw new ChainUnavailable(chain.network, `its RPC serves chain ${chainId}`);
  }
  servedAt.set(chain, performance.now());
}

/** How many transactions of an address are in blocks, now or at a block. Throws ChainUnavailable. */
export async function transactionCount(
  chain: ChainClient,
  address: string,
  blockNumber?: bigint,
): Promise<number> {
  const at = blockNumber === undefined ? { blockTag: 'latest' as const } : { blockNumber };
  return ask(chain, (rpc) => rpc.getTransactionCount({ address: address as Address, ...at }));
}
