import { setTimeout as sleep } from 'node:timers/promises';
import { ask, ChainUnavailable } from '../../src/chain/clients';
import { type RelayerContext, relayerAddress, requireChain } from './context';

/** The pause between two readings of a relayer's balance, in polls of a network. */
const POLL_FACTOR = 16;

/** A relayer that lacks funds: it needs `wei` (decimal) on a network. */
export interface AwaitRelayer {
  readonly networkId: number;
  readonly wei: string;
}

/** Waits until the relayer of a network has a balance. Throws the reason of `signal`. */
export async function awaitRelayer(
  context: RelayerContext,
  { networkId, wei }: AwaitRelayer,
  signal: AbortSignal,
): Promise<void> {
  const chain = requireChain(context, networkId);
  const address = await relayerAddress(context.db, networkId);
  const everyMs = context.pollMs * POLL_FACTOR;
  for (;;) {
    signal.throwIfAborted();
    try {
      const balance = await context.balances.read(networkId, () =>
        ask(chain, (rpc) => rpc.getBalance({ address })),
      );
      if (balance >= BigInt(wei)) return;
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
    }
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
}
