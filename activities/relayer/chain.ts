import { readEnvelope } from '../../src/db/chain';
import { awaitRelayer } from './awaitRelayer';
import { type RelayerContext, requireChain } from './context';
import { sendInOrder } from './sendInOrder';

/** The activities of the chain worker that concern relayers. */
export function createRelayerActivities(context: RelayerContext) {
  return {
    awaitRelayer: (input: Parameters<typeof awaitRelayer>[1]) => awaitRelayer(context, input),
    /** Sends an envelope after earlier ones. Throws ChainUnavailable or TransactionRejected. */
    async sendEnvelope({ envelopeId, networkId }: { envelopeId: string; networkId: number }): Promise<void> {
      const chain = requireChain(context, networkId);
      await sendInOrder(context, chain, await readEnvelope(context.db, BigInt(envelopeId)));
    },
  };
}

/** The activities of the chain worker that concern relayers, as workflows see them. */
export type RelayerActivities = ReturnType<typeof createRelayerActivities>;
