import type { DeploymentKey } from '../../src/domain/proposal';
import type { RelayerContext } from '../relayer/context';
import { type FollowDeployment, followDeployment } from './follow';
import { observeDeployment } from './observe';

/** The activities of the chain worker that deploy accounts. They have no key. */
export function createDeploymentChainActivities(context: RelayerContext) {
  return {
    observeDeployment: (key: DeploymentKey) => observeDeployment(context, key),
    followDeployment: context.withoutSlot((input: FollowDeployment, signal) =>
      followDeployment(context, input, signal),
    ),
  };
}

/** The activities of the chain worker that deploy accounts, as workflows see them. */
export type DeploymentChainActivities = ReturnType<typeof createDeploymentChainActivities>;
