import type { SignerContext } from './context';
import { fillNonce } from './fillNonce';

/** The activities of the signer that concern its relayers. */
export function createSignerActivities(context: SignerContext) {
  return {
    fillNonce: (input: Parameters<typeof fillNonce>[1]) => fillNonce(context, input),
  };
}

/** The activities of the signer that concern its relayers, as workflows see them. */
export type SignerActivities = ReturnType<typeof createSignerActivities>;
