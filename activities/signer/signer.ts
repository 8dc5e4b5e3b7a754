import type { SignerContext } from './context';
import { fillNonce } from './fillNonce';
import { provideSigningKey } from './keys';

/** The activities of the signer that concern its keys and its relayers. */
export function createSignerActivities(context: SignerContext) {
  return {
    provideSigningKey: (input: Parameters<typeof provideSigningKey>[1]) => provideSigningKey(context, input),
    fillNonce: (input: Parameters<typeof fillNonce>[1]) => fillNonce(context, input),
  };
}

/** The activities of the signer that concern its keys and its relayers, as workflows see them. */
export type SignerActivities = ReturnType<typeof createSignerActivities>;
