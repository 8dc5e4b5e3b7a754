import { setTimeout as sleep } from 'node:timers/promises';
import { ask, ChainUnavailable } from '../../src/chain/clients';
import { type RelayerContext, requireChain } from './relayerContext';
import { relayerOf } from './relayerOf';
import { relayerKey } from './sendLog';

/** The pause between two readings of a relayer's balance, in polls of a network. */
const POLL_FACTOR = 16;

/** The relayer of an account lacks funds: it needs `wei` (decimal) on a network. */
export interface AwaitRelayer {
  readonly networkId: number;
  readonly accountId: string;
  readonly wei: string;
}

/**
 * Waits until the relayer of an account has a balance; one pause at least, as nodes may disagree about the balance, and an
 * execution that fails again is begun again. Throws the reason of `signal`.
 */
export async function awaitRelayer(
  context: RelayerContext,
  { networkId, accountId, wei }: AwaitRelayer,
  signal: AbortSignal,
): Promise<void> {
  const chain = requireChain(context, networkId);
  const everyMs = context.pollMs * POLL_FACTOR;
  for (;;) {
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
    signal.throwIfAborted();
    // Another one pays once nothing of the account is in flight.
    const address = await relayerOf(context.db, chain.network, accountId);
    try {
      const balance = await context.balances.read(relayerKey(networkId, address), () =>
        ask(chain, (rpc) => rpc.getBalance({ address })),
      );
      if (balance >= BigInt(wei)) return;
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
    }
  }
}
