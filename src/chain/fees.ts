import { min } from '../domain/bigint';
import { ask, type ChainClient } from './clients';

/** Fees of a new envelope, in wei, within the ceiling of the network, at the newest block. */
export interface Fees {
  /** Number of that block. */
  readonly head: bigint;
  readonly baseFee: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** The current fees of a network. Throws ChainUnavailable. */
export async function currentFees(chain: ChainClient): Promise<Fees> {
  const ceiling = chain.network.maxFeePerGas;
  return ask(chain, async (rpc) => {
    const [block, tip] = await Promise.all([
      rpc.getBlock({ blockTag: 'latest' }),
      rpc.estimateMaxPriorityFeePerGas(),
    ]);
    const baseFee = block.baseFeePerGas ?? 0n;
    const maxFeePerGas = min(2n * baseFee + tip, ceiling);
    return { head: block.number, baseFee, maxFeePerGas, maxPriorityFeePerGas: min(tip, maxFeePerGas) };
  });
}
