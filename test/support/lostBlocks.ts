import { type Hex, numberToHex } from 'viem';
import { rpc } from './stack';

/** The number of the newest block. */
export const heightOf = async (url: string) => Number(await rpc<Hex>(url, 'eth_blockNumber', []));

/** Other blocks take the place of those that are gone: up to a height that the chain had, none is only missing. */
export async function growAbove(url: string, height: number): Promise<void> {
  await rpc(url, 'evm_increaseTime', [7]);
  await rpc(url, 'anvil_mine', [numberToHex(height + 1 - (await heightOf(url)))]);
}

/** Takes every block since a snapshot away, and has others take their place. */
export async function loseBlocksSince(url: string, snapshot: Hex): Promise<void> {
  const lost = await heightOf(url);
  await rpc(url, 'evm_revert', [snapshot]);
  await growAbove(url, lost);
}

/** Remembers a chain as it is; the answer takes every block since away. */
export async function remember(url: string): Promise<() => Promise<void>> {
  // The chain adds a block of its own only after one with transactions.
  await rpc(url, 'anvil_mine', ['0x1']);
  const snapshot = await rpc<Hex>(url, 'evm_snapshot', []);
  return () => loseBlocksSince(url, snapshot);
}
