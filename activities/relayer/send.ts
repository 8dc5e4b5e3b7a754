import { BaseError, type Hex } from 'viem';
import { type ChainClient, ChainUnavailable, networkLabel, rpcErrorText } from '../../src/chain/clients';
import { noteSent } from '../../src/db/attempts';
import type { Envelope } from '../../src/db/chain';
import { failpoint } from '../../src/failpoints';
import { untilUnchanged } from '../untilUnchanged';
import type { RelayerContext } from './context';

/** A node answers, and rejects a transaction for now. */
export class TransactionRejected extends Error {
  override readonly name = 'TransactionRejected';
}

/** The node may have the bytes already; the chain decides, not this response. */
const MAY_BE_KNOWN = /already|known|nonce too low|underpriced|imported|base fee/i;

/** Throws ChainUnavailable, or TransactionRejected where the node's response shows that it did not accept the bytes. */
function assertMayBeKnown(chain: ChainClient, envelope: Envelope, error: unknown): void {
  const text = rpcErrorText(chain, error);
  const answered = error instanceof BaseError && error.walk((e) => (e as Error).name === 'RpcRequestError');
  if (!answered) throw new ChainUnavailable(chain.network, text);
  if (/insufficient funds/i.test(text)) {
    throw new TransactionRejected(
      `insufficient funds: relayer ${envelope.relayerAddress} on ${networkLabel(chain)}; fund it`,
    );
  }
  if (!MAY_BE_KNOWN.test(text)) {
    throw new TransactionRejected(`${networkLabel(chain)} rejects the transaction: ${text}`);
  }
}

async function sendOnce(context: RelayerContext, chain: ChainClient, envelope: Envelope): Promise<boolean> {
  failpoint('chain.sending');
  let isAccepted = true;
  try {
    await chain.rpc.sendRawTransaction({ serializedTransaction: envelope.rawTransaction as Hex });
  } catch (error) {
    assertMayBeKnown(chain, envelope, error);
    isAccepted = false;
  }
  failpoint('chain.sent');
  const { id } = envelope;
  // Outdated once this process has sent it.
  const unsent = context.sent.isKnown(envelope) ? undefined : envelope.unsent;
  context.sent.note(envelope);
  if (!(await noteSent(context.db, id, unsent))) {
    await untilUnchanged(async () => (await noteSent(context.db, id)) || undefined);
  }
  failpoint('chain.noted');
  return isAccepted;
}

/**
 * Sends the stored bytes of an envelope. False: the node may have had them before. Throws ChainUnavailable or
 * TransactionRejected.
 */
export function send(context: RelayerContext, chain: ChainClient, envelope: Envelope): Promise<boolean> {
  return context.sent.once(envelope, () => sendOnce(context, chain, envelope));
}
