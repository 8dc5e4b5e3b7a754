import {
  BaseError,
  createPublicClient,
  defineChain,
  type Hex,
  http,
  type PublicClient,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from 'viem';
import type { NetworkConfig } from '../config';

/** How to reach one network. */
export interface ChainClient {
  readonly network: NetworkConfig;
  readonly rpc: PublicClient;
}

/** A network could not be asked: its RPC is away, too slow, or answers with an error of its own. */
export class ChainUnavailable extends Error {
  override readonly name = 'ChainUnavailable';
  constructor(
    readonly network: Pick<NetworkConfig, 'id' | 'name'>,
    reason: string,
    options?: ErrorOptions,
  ) {
    super(`network ${network.name} (${network.id}) cannot be reached: ${reason}`, options);
  }
}

const READ_TIMEOUT_MS = 3_000;

/** Makes a client. Every request is one HTTP call of at most `timeoutMs`; nothing is repeated, batched or cached. */
export function createChainClient(network: NetworkConfig, timeoutMs = READ_TIMEOUT_MS): ChainClient {
  const chain = defineChain({
    id: network.id,
    name: network.name,
    nativeCurrency: { ...network.nativeAsset },
    rpcUrls: { default: { http: [network.rpcUrl] } },
  });
  const rpc = createPublicClient({
    chain,
    cacheTime: 0,
    transport: http(network.rpcUrl, { timeout: timeoutMs, retryCount: 0, batch: false }),
  });
  return { network, rpc };
}

/** The clients of a deployment's networks, by chain id. */
export type ChainClients = ReadonlyMap<number, ChainClient>;

/** Makes a client for each network. */
export function createChainClients(networks: readonly NetworkConfig[]): ChainClients {
  return new Map(networks.map((network) => [network.id, createChainClient(network)]));
}

/** Why a call to a chain failed, in one line without the request. */
export function rpcErrorText(error: unknown): string {
  if (error instanceof BaseError) {
    const details = error.details?.split('\n')[0];
    const short = error.shortMessage.split('\n')[0] ?? error.name;
    return details && !short.includes(details) ? `${short} (${details})` : short;
  }
  return error instanceof Error ? error.message : String(error);
}

/** Asks a network something that it answers when it can be reached. Throws ChainUnavailable, and nothing else. */
export async function ask<T>(client: ChainClient, question: (rpc: PublicClient) => Promise<T>): Promise<T> {
  try {
    return await question(client.rpc);
  } catch (error) {
    if (error instanceof ChainUnavailable) throw error;
    throw new ChainUnavailable(client.network, rpcErrorText(error), { cause: error });
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
