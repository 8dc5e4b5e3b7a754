import { awaitRelayer } from './awaitRelayer';
import type { RelayerContext } from './context';

/** The activities of the chain worker that concern relayers. */
export function createRelayerActivities(context: RelayerContext) {
  return {
    awaitRelayer: (input: Parameters<typeof awaitRelayer>[1]) => awaitRelayer(context, input),
  };
}

/** The activities of the chain worker that concern relayers, as workflows see them. */
export type RelayerActivities = ReturnType<typeof createRelayerActivities>;
