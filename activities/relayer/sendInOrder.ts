import { type ChainClient, transactionCount } from '../../src/chain/clients';
import { accountNonce } from '../../src/chain/safe';
import { findAccountDerivation } from '../../src/db/accounts';
import { envelopePayload } from '../../src/db/attempts';
import type { Db } from '../../src/db/database';
import type { Envelope } from '../../src/db/envelopes';
import { MAX_ENVELOPES_READ, newestEnvelopes } from '../../src/db/envelopes';
import { reservedNonces } from '../../src/db/reservations';
import type { NonceGap } from './nonceGaps';
import type { RelayerContext } from './relayerContext';
import { sendEnvelope } from './send';
import { relayerKey } from './sendLog';

/**
 * Whether an envelope of an earlier nonce that is not on the chain is sent again. Bytes whose effect was confirmed once
 * are sent only where they cannot have another effect: `findLostTransactions` handles lost blocks. The same holds for the
 * bytes of a transaction that is to be cancelled. `obsolete`: its cancellation is signed at another nonce of the relayer, and
 * a filler has to take this one.
 */
async function isToSend(db: Db, chain: ChainClient, envelope: Envelope): Promise<boolean | 'obsolete'> {
  const { attempt, cancellation } = await envelopePayload(db, envelope);
  if (!attempt || attempt.kind === 'cancellation') return true;
  if (attempt.outcome === null && cancellation === null) return true;
  if (attempt.outcome === null && cancellation === 'signed') return 'obsolete';
  const account = await findAccountDerivation(db, attempt.organizationId, attempt.accountId);
  const nonce = account && (await accountNonce(chain, account.address));
  return nonce !== null && nonce !== undefined && nonce > attempt.safeNonce;
}

/** Sends an envelope of an earlier nonce, unless somebody has sent it meanwhile; the gap where it must not be sent any more. */
async function sendOneEarlier(
  context: RelayerContext,
  chain: ChainClient,
  earlier: Envelope,
): Promise<NonceGap | null> {
  const isSent = () => context.sent.isRecent(earlier);
  if (isSent()) return null;
  const isSendable = await isToSend(context.db, chain, earlier);
  const { relayerAddress, relayerNonce: nonce } = earlier;
  if (isSendable === 'obsolete') return { relayerAddress, nonce, obsolete: earlier };
  // Whoever follows it may have sent it.
  if (!isSendable || isSent()) return null;
  await sendEnvelope(context, chain, earlier);
  context.sent.noteAhead(earlier);
  return null;
}

/** How many transactions of the relayer are in blocks at least; a count of a while ago will do for what is sent for the first time. */
async function knownCount(
  { sent, transactionCounts }: RelayerContext,
  chain: ChainClient,
  envelope: Envelope,
): Promise<number> {
  const { networkId, relayerAddress } = envelope;
  const known = sent.isKnown(envelope)
    ? undefined
    : transactionCounts.fresh(relayerKey(networkId, relayerAddress));
  return (await known?.catch(() => undefined)) ?? transactionCount(chain, relayerAddress);
}

/** Sends the earlier envelopes that are not on the chain; returns the first unused nonce. */
async function sendEarlier(
  context: RelayerContext,
  chain: ChainClient,
  envelope: Envelope,
): Promise<NonceGap | null> {
  const { networkId, relayerAddress, relayerNonce } = envelope;
  const known = await knownCount(context, chain, envelope);
  if (known >= relayerNonce) return null;
  const range = { networkId, relayerAddress, fromNonce: known, toNonce: relayerNonce - 1 };
  if (context.sent.areRecent(range)) return null;
  // A nonce that is being signed for is not a gap: it becomes an envelope.
  const reserved = await reservedNonces(context.db, range);
  const listed = await newestEnvelopes(context.db, range);
  // Counted after they were read: what was decided then and is not counted now is lost.
  const used = await transactionCount(chain, relayerAddress);
  context.transactionCounts.note(relayerKey(networkId, relayerAddress), used);
  let gap: NonceGap | null = null;
  let expected = used;
  for (const earlier of listed.filter((one) => one.relayerNonce >= used)) {
    if (earlier.relayerNonce > expected) gap ??= { relayerAddress, nonce: expected };
    expected = earlier.relayerNonce + 1;
    const obsolete = await sendOneEarlier(context, chain, earlier);
    gap ??= obsolete;
  }
  // Behind a list that was cut off there are more.
  if (listed.length < MAX_ENVELOPES_READ && expected < relayerNonce)
    gap ??= { relayerAddress, nonce: expected };
  return gap && reserved.includes(gap.nonce) ? null : gap;
}

/** What sending an envelope has shown. */
export interface Sent {
  /** The first unused nonce before it. */
  readonly gap: NonceGap | null;
  /** The node did not have it before. */
  readonly isAccepted: boolean;
}

/**
 * Sends an envelope after those of earlier nonces that are not on the chain: their workflows may have ended, the
 * chain may have lost them, and without them this one would wait for ever. Throws ChainUnavailable or TransactionRejected.
 */
export async function sendInOrder(
  context: RelayerContext,
  chain: ChainClient,
  envelope: Envelope,
): Promise<Sent> {
  if (context.sent.takeAhead(envelope)) return { gap: null, isAccepted: false };
  const gap = await sendEarlier(context, chain, envelope);
  return { gap, isAccepted: await sendEnvelope(context, chain, envelope) };
}
