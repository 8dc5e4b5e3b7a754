import type { Hex } from 'viem';
import { LOCAL_FUNDER, rpc } from './stack';
import { until } from './until';

/**
 * Sends from the funder of a local chain; returns the hash. The node gives it one nonce twice when it is asked twice at once, and
 * refuses the second one: that is sent again.
 */
export function sendFromFunder(
  rpcUrl: string,
  call: { readonly to: string; readonly value?: string; readonly data?: Hex },
): Promise<Hex> {
  const sent = { from: LOCAL_FUNDER.address, gas: '0x30d40', ...call };
  return until('a transaction of the funder is sent', () => rpc<Hex>(rpcUrl, 'eth_sendTransaction', [sent]));
}
