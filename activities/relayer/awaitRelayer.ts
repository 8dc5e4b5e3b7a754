import { Context } from '@temporalio/activity';
import { ask, ChainUnavailable } from '../../src/chain/clients';
import { type RelayerContext, relayerAddress, requireChain } from './context';

/** The factor between the poll intervals of a relayer's balance and of a transaction. */
const POLL_FACTOR = 16;

/** Waits until the relayer of a network has at least `wei` (decimal). */
export async function awaitRelayer(
  context: RelayerContext,
  input: { networkId: number; wei: string },
): Promise<void> {
  const activity = Context.current();
  const chain = requireChain(context, input.networkId);
  const address = await relayerAddress(context.db, input.networkId);
  for (;;) {
    try {
      const balance = await ask(chain, (rpc) => rpc.getBalance({ address }));
      if (balance >= BigInt(input.wei)) return;
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
    }
    activity.heartbeat();
    await activity.sleep(context.pollMs * POLL_FACTOR);
  }
}
