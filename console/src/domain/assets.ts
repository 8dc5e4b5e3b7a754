import type { Schema } from '@orgwallet/client';
import { isSameAddress } from './address.ts';

export const NATIVE_CURRENCY = `0x${'0'.repeat(40)}`;

/** Of every native currency: what is signed of one is written with these, whatever the service says. */
export const NATIVE_DECIMALS = 18;

/** Networks with the decimals of their native currency: with others a value that is signed would be shown as another one. */
export const withNativeDecimals = (networks: readonly Schema['Network'][]): Schema['Network'][] =>
  networks.map((network) => ({
    ...network,
    nativeAsset: { ...network.nativeAsset, decimals: NATIVE_DECIMALS },
  }));

/** Something that an account can send on a network. */
export interface Sendable {
  readonly tokenAddress: string;
  readonly symbol: string;
  /** null where the token reports none. */
  readonly decimals: number | null;
  /** In the smallest unit; undefined: not known. */
  readonly balance: string | undefined;
}

/** The native currency, what the account holds, and the tokens that policies of the network name. */
export function sendableOn(
  network: Schema['Network'],
  balances: readonly Schema['Balance'][],
  policies: readonly Schema['Policy'][],
): readonly Sendable[] {
  const found = new Map<string, Sendable>();
  const add = (asset: Omit<Sendable, 'balance'>, balance: string | undefined) => {
    const key = asset.tokenAddress.toLowerCase();
    if (!found.has(key)) {
      const { tokenAddress, symbol } = asset;
      const decimals = tokenAddress === NATIVE_CURRENCY ? NATIVE_DECIMALS : asset.decimals;
      found.set(key, { tokenAddress, symbol, decimals, balance });
    }
  };
  for (const { networkId, asset, rawAmount } of balances) {
    if (networkId === network.id) add(asset, rawAmount ?? undefined);
  }
  add({ ...network.nativeAsset, tokenAddress: NATIVE_CURRENCY }, undefined);
  for (const policy of policies) {
    if (policy.networkId !== network.id || policy.transactionType !== 'TOKEN_TRANSFER') continue;
    const { tokenAddress, tokenSymbol, tokenDecimals } = policy.tokenTransferCondition;
    if (tokenAddress !== null) {
      add({ tokenAddress, symbol: tokenSymbol, decimals: tokenDecimals }, undefined);
    }
  }
  return [...found.values()];
}

/**
 * The asset that is chosen, whatever the case of its address; the first one before there is a choice. Undefined where the chosen one
 * is not among them: an amount that was typed for it is never one of another asset.
 */
export function chosenAsset(assets: readonly Sendable[], chosen: string): Sendable | undefined {
  return chosen === '' ? assets[0] : assets.find(({ tokenAddress }) => isSameAddress(tokenAddress, chosen));
}

/** The assets that an organization deals with: each network's native currency, and the tokens that policies name. */
export function assetsOf({
  networks,
  policies,
}: {
  readonly networks: readonly Schema['Network'][];
  readonly policies: readonly Schema['Policy'][];
}): readonly { readonly id: string; readonly name: string }[] {
  return networks.flatMap((network) =>
    sendableOn(network, [], policies).map(({ tokenAddress, symbol }) => ({
      id: `${network.id}:${tokenAddress}`,
      name: `${symbol || tokenAddress} on ${network.name}`,
    })),
  );
}
