import { isAddress } from 'viem';

/** A typed address without the short name of its network, or what is wrong with it. Source: EIP-3770. */
export function readPrefixed(
  text: string,
  network: { readonly id: number; readonly name: string; readonly shortName?: string } | undefined,
): { readonly address: string } | { readonly error: string } {
  const [, shortName, address] = /^\s*([A-Za-z0-9_-]+):(0x[0-9a-fA-F]{40})\s*$/.exec(text) ?? [];
  if (shortName === undefined || address === undefined || !isAddress(address)) return { address: text };
  if (network?.shortName === shortName) return { address };
  const chosen = network ? `the chosen network is ${network.name}` : 'choose its network first';
  return { error: `This is an address on the network “${shortName}”: ${chosen}` };
}
