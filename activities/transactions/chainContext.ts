import type { RelayerContext } from '../relayer/context';
import type { BlockRef } from './lostBlocks';

/** What carrying transactions of accounts to their chains needs from outside. */
export interface TransactionChainDeps extends RelayerContext {
  /** Gas ceiling of one chain transaction. */
  readonly maxGas: bigint;
}

/** The dependencies, and what the activities of one process share. */
export interface TransactionChainContext extends TransactionChainDeps {
  /** The head at the last look for lost blocks that found none, by network. */
  readonly lastHeads: Map<number, BlockRef>;
}
