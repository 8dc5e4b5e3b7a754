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

/** The step by which a replacement raises the fee, in percent; nodes require 110. */
const REPLACEMENT_STEP_PERCENT = 125n;
/** What a replacement pays at least, in percent of the fees that it replaces: nodes drop one that pays less. */
export const LEAST_REPLACEMENT_PERCENT = 110n;

/** The fee of a replacement, in wei. */
export function raised(wei: bigint): bigint {
  return (wei * REPLACEMENT_STEP_PERCENT) / 100n + 1n;
}

/** The lowest fee of a replacement that nodes take, in wei. */
export function leastReplacement(wei: bigint): bigint {
  return (wei * LEAST_REPLACEMENT_PERCENT) / 100n;
}

/** Whether the network asks for more than an envelope offers. */
export function isOutbid(fees: Fees, envelope: Pick<Fees, 'maxFeePerGas' | 'maxPriorityFeePerGas'>): boolean {
  return (
    fees.maxFeePerGas > envelope.maxFeePerGas || fees.maxPriorityFeePerGas > envelope.maxPriorityFeePerGas
  );
}
