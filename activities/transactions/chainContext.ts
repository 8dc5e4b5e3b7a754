import type { RelayerContext } from '../relayer/relayerContext';
import type { Search } from './lostBlocks';

/** The dependencies of the execution of transactions on chain. */
export interface TransactionChainDeps extends RelayerContext {
  /** Gas ceiling of one chain transaction. */
  readonly maxGas: bigint;
}

/** The dependencies, and what the activities of one process share. */
export interface TransactionChainContext extends TransactionChainDeps {
  /** The last search for lost blocks that found none, by network. */
  readonly lastSearches: Map<number, Search>;
}

/** What `observeNew` needs, in the chain worker and in the worker of workflows. */
export type ObserveNewContext = Pick<
  TransactionChainContext,
  'db' | 'chains' | 'maxGas' | 'transactionCounts' | 'fees'
>;
