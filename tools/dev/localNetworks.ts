import { writeFileSync } from 'node:fs';
import type { RunningChain } from './localChain';

/** Writes NETWORKS_FILE for chains that run here; `confirmations` is that of each network. */
export function writeNetworksFile(
  file: string,
  chains: readonly RunningChain[],
  { confirmations = 1 } = {},
): void {
  const networks = chains.map((chain) => ({
    id: chain.chainId,
    name: chain.part.name,
    rpcUrl: chain.rpcUrl,
    walletRpcUrl: chain.rpcUrl,
    nativeAsset: { symbol: 'ETH', name: 'Ether', decimals: 18 },
    confirmations,
    maxFeePerGas: '500000000000',
  }));
  writeFileSync(file, `${JSON.stringify(networks, null, 2)}\n`);
}

/** Writes TOKEN_LIST_FILE, in the format of tokenlists.org, with the demo token of each chain. */
export function writeTokenListFile(file: string, chains: readonly RunningChain[]): void {
  const list = {
    name: 'Local tokens',
    timestamp: '2026-01-01T00:00:00.000Z',
    version: { major: 1, minor: 0, patch: 0 },
    tokens: chains.map(({ chainId, token }) => ({ chainId, ...token })),
  };
  writeFileSync(file, `${JSON.stringify(list, null, 2)}\n`);
}
