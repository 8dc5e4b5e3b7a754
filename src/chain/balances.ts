import { type Address, erc20Abi, formatUnits, zeroAddress } from 'viem';
import type { NetworkConfig } from '../config';
import type { Asset } from '../domain/transactionText';
import { assertChainId, type ChainClient } from './clients';
import type { ListedToken } from './tokenList';

/** How much of an asset an address holds. Amounts are null while the chain is unavailable. */
interface Balance {
  readonly networkId: number;
  readonly asset: Asset;
  /** In the smallest unit, decimal digits. */
  readonly rawAmount: string | null;
  /** In whole units, decimal; in the smallest unit where the token reports no decimals. */
  readonly displayAmount: string | null;
  readonly unavailable?: true;
}

/** The tokens of the token list and those that policies name, each once: what a policy has read on chain takes precedence. */
export function knownTokens(
  tokens: readonly ListedToken[],
  named: readonly ListedToken[],
): readonly ListedToken[] {
  const known = new Map<string, ListedToken>();
  for (const token of [...tokens, ...named]) known.set(`${token.networkId}:${token.address}`, token);
  return [...known.values()];
}

/** The native currency of a network, as a token at the zero address. */
export function nativeToken({ id, nativeAsset: { symbol, name, decimals } }: NetworkConfig): ListedToken {
  return { networkId: id, address: zeroAddress, symbol, name, decimals, logoUrl: null };
}

/** A token as balances show it. */
export function assetOf({ networkId, address, symbol, name, decimals, logoUrl }: ListedToken): Asset {
  return { id: `${networkId}:${address}`, symbol, name, logoUrl, decimals, tokenAddress: address };
}

/** An endpoint is asked so often which chain it serves: balances of another one would be believed. */
export const CHAIN_ID_MS = 10_000;

/** Reads the native currency and the given tokens that an address holds on one network. Never throws. */
export async function readBalances(
  chain: ChainClient,
  address: Address,
  tokens: readonly ListedToken[],
): Promise<Balance[]> {
  const { network, rpc } = chain;
  const native = nativeToken(network);
  const assets = [native, ...tokens.filter((token) => token.networkId === network.id)];
  const served = assertChainId(chain, { withinMs: CHAIN_ID_MS });
  return Promise.all(
    assets.map(async (token): Promise<Balance> => {
      const asset = assetOf(token);
      try {
        await served;
        const amount =
          token === native
            ? await rpc.getBalance({ address })
            : await rpc.readContract({
                abi: erc20Abi,
                address: token.address as Address,
                functionName: 'balanceOf',
                args: [address],
              });
        return {
          networkId: network.id,
          asset,
          rawAmount: amount.toString(),
          displayAmount: formatUnits(amount, token.decimals ?? 0),
        };
      } catch {
        return { networkId: network.id, asset, rawAmount: null, displayAmount: null, unavailable: true };
      }
    }),
  );
}
