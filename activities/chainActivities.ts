import type { DeploymentKey } from '../src/domain/proposal';
import { type FollowDeployment, followDeployment } from './deployments/followDeployment';
import { observeDeployment } from './deployments/observe';
import { backfillMovements, type Scanners } from './movements';
import { type AwaitRelayer, awaitRelayer } from './relayer/awaitRelayer';
import type { TransactionChainContext, TransactionChainDeps } from './transactions/chainContext';
import { findLostTransactions } from './transactions/findLost';
import { type FollowTransaction, followTransaction } from './transactions/followTransaction';
import { type PrepareTransaction, prepareTransaction } from './transactions/prepare';

/** The activities of the chain worker: it reads networks, sends what is signed, and has no key. */
export function createChainActivities({
  scanners,
  ...deps
}: TransactionChainDeps & { readonly scanners: Scanners }) {
  const context: TransactionChainContext = { ...deps, lastSearches: new Map() };
  const { withoutSlot } = context;
  return {
    awaitRelayer: withoutSlot((input: AwaitRelayer, signal) => awaitRelayer(context, input, signal)),
    observeDeployment: (key: DeploymentKey) => observeDeployment(context, key),
    followDeployment: withoutSlot((input: FollowDeployment, signal) =>
      followDeployment(context, input, signal),
    ),
    prepareTransaction: (input: PrepareTransaction) => prepareTransaction(context, input),
    followTransaction: withoutSlot((input: FollowTransaction, signal) =>
      followTransaction(context, input, signal),
    ),
    findLostTransactions: (input: { networkId: number }) => findLostTransactions(context, input),
    backfillMovements: (input: { readonly networkId: number }) => backfillMovements(scanners, input),
  };
}

/** The activities of the chain worker, as workflows see them. */
export type ChainActivities = ReturnType<typeof createChainActivities>;
