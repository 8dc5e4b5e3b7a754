import { type AwaitRelayer, awaitRelayer } from './awaitRelayer';
import type { RelayerContext } from './context';

/** The activities of the chain worker that concern relayers. */
export function createRelayerActivities(context: RelayerContext) {
  return {
    awaitRelayer: context.withoutSlot((input: AwaitRelayer, signal) => awaitRelayer(context, input, signal)),
  };
}

/** The activities of the chain worker that concern relayers, as workflows see them. */
export type RelayerActivities = ReturnType<typeof createRelayerActivities>;
