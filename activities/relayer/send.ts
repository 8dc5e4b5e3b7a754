import type { Address, Hex } from 'viem';
import {
  ask,
  type ChainClient,
  networkLabel,
  receiptOf,
  rpcErrorText,
  transactionCount,
} from '../../src/chain/clients';
import type { Envelope } from '../../src/db/envelopes';
import { failpoint } from '../../src/failpoints';
import { retryOnConflict } from '../retryOnConflict';
import { noteSent } from './noteSent';
import type { RelayerContext } from './relayerContext';

/** A transaction was not taken: its nonce is unused, and neither the chain nor the pool of the node has it. */
export class TransactionRejected extends Error {
  override readonly name = 'TransactionRejected';
}

/** Whether the pool of a node has the bytes, or others at their nonce; false as well where it does not say. */
async function isInPool({ rpc }: ChainClient, envelope: Envelope): Promise<boolean> {
  const { transactionHash, relayerAddress, relayerNonce } = envelope;
  const [found, count] = await Promise.all([
    rpc.getTransaction({ hash: transactionHash as Hex }).catch(() => null),
    rpc.getTransactionCount({ address: relayerAddress as Address, blockTag: 'pending' }).catch(() => 0),
  ]);
  return found !== null || count > relayerNonce;
}

/**
 * Looks whether the node or the chain has the bytes that were not accepted, or their nonce is used: they may have been sent
 * before, or have arrived without an answer. No text or code of an error decides it: every node has its own. Throws
 * ChainUnavailable, or TransactionRejected.
 */
async function assertKnown(chain: ChainClient, envelope: Envelope, error: unknown): Promise<void> {
  const { transactionHash, relayerAddress, relayerNonce, gas, maxFeePerGas } = envelope;
  const address = relayerAddress as Address;
  const [receipt, used, inPool, balance] = await Promise.all([
    receiptOf(chain, transactionHash),
    transactionCount(chain, relayerAddress),
    isInPool(chain, envelope),
    ask(chain, (rpc) => rpc.getBalance({ address })),
  ]);
  if (receipt || used > relayerNonce || inPool) return;
  if (balance < gas * maxFeePerGas) {
    throw new TransactionRejected(
      `insufficient funds: relayer ${address} on ${networkLabel(chain)}; fund it`,
    );
  }
  throw new TransactionRejected(
    `${networkLabel(chain)} rejects the transaction: ${rpcErrorText(chain, error)}`,
  );
}

async function sendOnce(context: RelayerContext, chain: ChainClient, envelope: Envelope): Promise<boolean> {
  failpoint('chain.sending');
  let isAccepted = true;
  try {
    await chain.rpc.sendRawTransaction({ serializedTransaction: envelope.rawTransaction as Hex });
  } catch (error) {
    await assertKnown(chain, envelope, error);
    isAccepted = false;
  }
  failpoint('chain.sent');
  const { id } = envelope;
  // Outdated once this process has sent it.
  const unsent = context.sent.isKnown(envelope) ? undefined : envelope.unsent;
  context.sent.note(envelope);
  if (!(await noteSent(context.db, id, unsent))) {
    await retryOnConflict(async () => (await noteSent(context.db, id)) || undefined);
  }
  failpoint('chain.noted');
  return isAccepted;
}

/**
 * Sends the stored bytes of an envelope. False: the node did not accept them now, and the chain decides. Throws
 * ChainUnavailable or TransactionRejected.
 */
export function sendEnvelope(
  context: RelayerContext,
  chain: ChainClient,
  envelope: Envelope,
): Promise<boolean> {
  return context.sent.once(envelope, () => sendOnce(context, chain, envelope));
}
