import type { Schema } from '@orgwallet/client';
import { WalletError } from './walletError.ts';

/** Asks a wallet for something. Throws WalletError. */
export type AskWallet = <T>(method: string, params: unknown[]) => Promise<T>;

type Network = Schema['Network'];

/** The error of a wallet that has tried and failed; what the person decided is thrown. */
async function failureOf(work: () => Promise<unknown>): Promise<WalletError | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof WalletError && error.code === 'failed') return error;
    throw error;
  }
}

const isSecure = (url: string | undefined): url is string => url?.startsWith('https://') === true;

/** A network as a wallet adds it. Source: EIP-3085. */
function asAdded({ id, name, nativeAsset, explorerUrl, walletRpcUrl }: Network) {
  const { symbol, name: currency, decimals } = nativeAsset;
  return {
    chainId: `0x${id.toString(16)}`,
    chainName: name,
    nativeCurrency: { name: currency, symbol, decimals },
    rpcUrls: [walletRpcUrl],
    // Wallets refuse an explorer without TLS.
    ...(isSecure(explorerUrl) ? { blockExplorerUrls: [explorerUrl] } : {}),
  };
}

/** How a person adds a network to a wallet that does not do it itself. */
function byHand(chainId: number, network: Network | undefined): string {
  const { name = 'the network', nativeAsset, walletRpcUrl } = network ?? {};
  const values = [
    `chain ID ${chainId}`,
    ...(nativeAsset ? [`currency ${nativeAsset.symbol}`] : []),
    ...(walletRpcUrl ? [`RPC URL ${walletRpcUrl}`] : ['an RPC URL from your operator']),
  ];
  return `Add ${name} to it by hand (${values.join(', ')}), then try again.`;
}

/**
 * Asks a wallet to go to a chain, and to add it where it cannot: many sign only what is of the chain that they are on. Returns
 * why the wallet is not there, or undefined where it is. Throws WalletError when the person declines. A wallet that does not
 * have a chain says so in many ways, so that its code decides nothing. Source: EIP-3085, EIP-3326.
 */
export async function goToChain(
  ask: AskWallet,
  chainId: number,
  { wallet, networkOf }: { wallet: string; networkOf: (chainId: number) => Promise<Network | undefined> },
): Promise<string | undefined> {
  const isThere = async () => Number(await ask<string>('eth_chainId', [])) === chainId;
  const goThere = () => ask('wallet_switchEthereumChain', [{ chainId: `0x${chainId.toString(16)}` }]);
  if (await isThere()) return undefined;
  const notSwitched = await failureOf(goThere);
  if (!notSwitched) return undefined;
  const network = await networkOf(chainId);
  const name = network?.name ?? `the network ${chainId}`;
  if (!network?.walletRpcUrl) return `${wallet} is not on ${name}. ${byHand(chainId, network)}`;
  const notAdded = await failureOf(() => ask('wallet_addEthereumChain', [asAdded(network)]));
  if (notAdded) return `${wallet} is not on ${name}. ${notAdded.message} ${byHand(chainId, network)}`;
  // A wallet need not go to a network that it has added.
  if (await isThere()) return undefined;
  const stillNotSwitched = await failureOf(goThere);
  return stillNotSwitched ? `${wallet} is not on ${name}. ${stillNotSwitched.message}` : undefined;
}
