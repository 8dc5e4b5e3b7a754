import { type ChainClient, receiptOf, transactionCount } from '../../src/chain/clients';
import { paidFee } from '../../src/chain/paidFee';
import { boundedFee } from '../../src/chain/receiptFee';
import type { Db } from '../../src/db/database';
import { type Envelope, undecidedEnvelope } from '../../src/db/envelopes';
import { decideEnvelope, reopenEnvelope } from '../../src/db/followedEnvelopes';
import { recordFee } from '../../src/db/relayerFees';
import { executeBatch } from '../../src/db/rows';
import { failpoint } from '../../src/failpoints';
import { timeOfBlock } from './heads';
import type { RelayerContext } from './relayerContext';

/** The result of a check of the chain: the end, or the number of its block, null while it is in none. */
export type ChainCheck<T> = { readonly end: T } | { readonly inBlock: bigint | null };

/**
 * The newest envelope when it was decided and the chain has lost the block that decided it; undefined otherwise. Its
 * bytes can be included again, so it is undecided again and nothing new is signed. Throws ChainUnavailable.
 */
export async function reopenLostEnvelope(
  db: Db,
  chain: ChainClient,
  envelopes: readonly Envelope[],
): Promise<Envelope | undefined> {
  const last = envelopes.at(-1);
  if (!last || undecidedEnvelope(envelopes)) return undefined;
  if ((await transactionCount(chain, last.relayerAddress)) > last.relayerNonce) return undefined;
  await reopenEnvelope(db, last.id);
  return last;
}

/**
 * Checks an envelope: mined, reverted, or dropped because another one has used its nonce. It ends with the
 * network's confirmations, and then the outcome is recorded with what it cost. `head`: the number of the newest block.
 */
export async function checkEnvelope(
  context: Pick<RelayerContext, 'db' | 'heads'>,
  chain: ChainClient,
  envelope: Envelope,
  head: bigint,
): Promise<ChainCheck<'mined' | 'reverted' | 'dropped'>> {
  const { db } = context;
  const depth = BigInt(chain.network.confirmations);
  const receipt = await receiptOf(chain, envelope.transactionHash);
  if (receipt) {
    const { blockNumber, blockHash } = receipt;
    if (blockNumber + depth > head) return { inBlock: blockNumber };
    const outcome = receipt.status === 'success' ? 'mined' : 'reverted';
    const blockAt = await timeOfBlock(context, chain, blockHash);
    const fee = { ...boundedFee(await paidFee(chain, receipt), envelope), blockNumber, blockAt };
    await executeBatch([decideEnvelope(db, envelope, outcome)], [recordFee(db, envelope, fee)]);
    failpoint('chain.envelopeDecided');
    return { end: outcome };
  }
  const confirmed = head > depth ? head - depth : 0n;
  if ((await transactionCount(chain, envelope.relayerAddress, confirmed)) <= envelope.relayerNonce) {
    return { inBlock: null };
  }
  // The receipt may have come from another node behind the endpoint, which lags behind.
  const late = await receiptOf(chain, envelope.transactionHash);
  if (late) return { inBlock: late.blockNumber };
  await decideEnvelope(db, envelope, 'dropped');
  return { end: 'dropped' };
}
