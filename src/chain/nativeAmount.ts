import { formatGwei, formatUnits } from 'viem';
import type { NetworkConfig } from '../config';

/** An amount of a network's native currency as people read it, in whole units and exact: `0.05 ETH`. `amount` is in wei. */
export function nativeAmount({ nativeAsset }: Pick<NetworkConfig, 'nativeAsset'>, amount: bigint): string {
  return `${formatUnits(amount, nativeAsset.decimals)} ${nativeAsset.symbol}`;
}

/** A price of gas as people read it, exact: `1.5 gwei`. `price` is in wei. */
export function gasPriceText(price: bigint): string {
  return `${formatGwei(price)} gwei`;
}
