import type { Hex } from 'viem';
import { headOf } from '../../src/chain/atNonce';
import { type ChainClient, networkLabel, transactionCount } from '../../src/chain/clients';
import { dataCost } from '../../src/chain/dataCost';
import { currentFees } from '../../src/chain/fees';
import { gasWithData, MAX_WHOLE_REVERTS } from '../../src/chain/gas';
import { gasPriceText } from '../../src/chain/nativeAmount';
import { accountNonce } from '../../src/chain/safe';
import { cancellation } from '../../src/chain/safeTransaction';
import { type Attempt, envelopesOf, undecidedBelow } from '../../src/db/attempts';
import type { Db } from '../../src/db/database';
import { type Envelope, undecidedEnvelope } from '../../src/db/envelopes';
import { reopenEnvelope } from '../../src/db/followedEnvelopes';
import type { EnvelopeTerms } from '../../src/domain/terms';
import { checkEnvelope, reopenLostEnvelope } from '../relayer/checkEnvelope';
import { relayerOf } from '../relayer/relayerOf';
import { newEnvelopeTerms, replacementTerms } from '../relayer/terms';
import { attemptsOf, checkAtNonce } from './atNonce';
import type { TransactionChainContext } from './chainContext';
import { attemptTerms, type TransactionObservation } from './observation';
import type { AtNonce } from './outcome';

function inFlight({ id }: Envelope): TransactionObservation {
  return { kind: 'inFlight', envelopeId: String(id) };
}

/**
 * Records the outcome of the envelopes of earlier nonces: the signer then replaces dropped ones. Returns the undecided
 * attempts at these nonces.
 */
async function checkEarlier(
  context: Pick<TransactionChainContext, 'db' | 'heads'>,
  chain: ChainClient,
  { transaction }: AtNonce,
  head: bigint,
): Promise<readonly Attempt[]> {
  const { db } = context;
  const earlier = await undecidedBelow(db, transaction, transaction.safeNonce);
  for (const envelope of await envelopesOf(db, earlier)) {
    if (envelope.outcome === null) await checkEnvelope(context, chain, envelope, head);
  }
  return earlier;
}

/**
 * Whether an earlier nonce of the account is neither used on chain nor about to be: the chain has lost what was executed
 * there, and whatever is sent now reverts.
 */
function isAfterLost({ transaction }: AtNonce, earlier: readonly Attempt[], nextNonce: bigint): boolean {
  const coming = new Set(earlier.map(({ safeNonce }) => safeNonce).filter((nonce) => nonce >= nextNonce));
  return nextNonce + BigInt(coming.size) < transaction.safeNonce;
}

/**
 * The envelope of a transaction that a cancellation replaces: of those that can still be included, the one with the lowest
 * nonce of its relayer, so that none comes before the cancellation. One that was decided in a lost block is undecided again.
 * Undefined where none can be included. Throws ChainUnavailable.
 */
async function envelopeToReplace(
  db: Db,
  chain: ChainClient,
  envelopes: readonly Envelope[],
): Promise<Envelope | undefined> {
  const relayerAddress = envelopes.at(-1)?.relayerAddress;
  if (relayerAddress === undefined) return undefined;
  const used = await transactionCount(chain, relayerAddress);
  const live = envelopes.filter((one) => one.relayerAddress === relayerAddress && one.relayerNonce >= used);
  const lowest = Math.min(...live.map(({ relayerNonce }) => relayerNonce));
  const found = live.findLast(({ relayerNonce }) => relayerNonce === lowest);
  if (found && found.outcome !== null) await reopenEnvelope(db, found.id);
  return found;
}

/** The terms of the next envelope at a nonce; a cancellation's replace the transaction's own envelope. */
async function nextTerms(
  context: TransactionChainContext,
  chain: ChainClient,
  at: AtNonce,
  { earlier, cancels }: { earlier: readonly Attempt[]; cancels: boolean },
): Promise<TransactionObservation> {
  const { envelopes } = at;
  const { safeNonce, networkId } = at.transaction;
  const nextNonce = (await accountNonce(chain, at.account)) ?? 0n;
  if (isAfterLost(at, earlier, nextNonce)) {
    const message = `waiting for an earlier transaction of the account, which ${networkLabel(chain)} has lost`;
    return { kind: 'confirming', message };
  }
  // Whatever is signed for a nonce that is used reverts.
  if (nextNonce > safeNonce) {
    const message = `waiting for ${networkLabel(chain)} to show what has used nonce ${safeNonce} of the account`;
    return { kind: 'confirming', message };
  }
  const signed = at.cancellation ?? at.transaction;
  const content = cancels
    ? cancellation({ networkId, account: at.account, nonce: safeNonce })
    : { safeTxGas: signed.safeTxGas, data: signed.data as Hex };
  const reverts = envelopes.filter((one) => one.attemptId === signed.id && one.outcome === 'reverted').length;
  if (reverts >= MAX_WHOLE_REVERTS && !(cancels && !at.cancellation)) {
    const message = `${reverts} chain transactions that carry it have reverted as a whole on ${networkLabel(chain)}: find out why, and cancel it if it cannot be executed`;
    return { kind: 'confirming', message };
  }
  const dataFee = await dataCost(chain, { account: at.account, data: content.data });
  const gas = gasWithData(content, cancels ? 0 : reverts, dataFee, context.maxGas);
  const needs = (terms: EnvelopeTerms): TransactionObservation => ({
    kind: 'needsEnvelope',
    terms: attemptTerms(terms, content, signed.fromBlock, nextNonce),
    cancels,
    attempted: true,
  });
  const replaced =
    cancels && (await envelopeToReplace(context.db, chain, envelopesOfAttempt(at, at.transaction)));
  if (replaced) {
    const terms = replacementTerms(chain, await currentFees(chain), replaced, gas);
    if (terms) return needs(terms);
    // At a later nonce of the relayer the cancellation would come after the transaction.
    const message = `the cancellation has to pay more than the ceiling on ${networkLabel(chain)}: its envelope pays ${gasPriceText(replaced.maxFeePerGas)} already; raise maxFeePerGas of the network`;
    return { kind: 'confirming', message };
  }
  const relayerAddress = await relayerOf(context.db, chain.network, signed.accountId);
  const [fees, chainNonce] = await Promise.all([currentFees(chain), transactionCount(chain, relayerAddress)]);
  return needs(newEnvelopeTerms(fees, gas, { relayerAddress, chainNonce }));
}

/** The envelopes of one attempt, oldest first. */
function envelopesOfAttempt({ envelopes }: AtNonce, { id }: Attempt): readonly Envelope[] {
  return envelopes.filter(({ attemptId }) => attemptId === id);
}

/** The envelopes that may be sent: of what is to be cancelled, only those of its cancellation. */
function sendable(at: AtNonce, cancels: boolean): readonly Envelope[] {
  if (!cancels) return at.envelopes;
  return at.cancellation ? envelopesOfAttempt(at, at.cancellation) : [];
}

/**
 * The state of a transaction with a signed attempt. `cancel`: the attempt is to be cancelled. Throws
 * ChainUnavailable.
 */
export async function observeSigned(
  context: TransactionChainContext,
  chain: ChainClient,
  at: AtNonce,
  cancel: boolean,
): Promise<TransactionObservation> {
  const { db } = context;
  const head = await headOf(chain);
  const seen = await checkAtNonce(context, chain, at, head);
  if ('outcome' in seen) return { kind: 'decided', outcome: seen.outcome };
  if (at.signerOutcome !== null) {
    const message = `the signer reads that it was ${at.signerOutcome}, and the chain worker does not`;
    return { kind: 'confirming', message, unconfirmed: true };
  }
  const cancels = cancel || at.cancellation !== undefined;
  // What `checkAtNonce` has decided is read again.
  const now = { ...at, envelopes: await envelopesOf(db, attemptsOf(at)) };
  const sent = sendable(now, cancels);
  const undecided = undecidedEnvelope(sent);
  if (undecided) return inFlight(undecided);
  if (seen.blockNumber !== null) {
    const { confirmations } = chain.network;
    return {
      kind: 'confirming',
      message: `waiting for ${confirmations} confirmations on ${networkLabel(chain)}`,
    };
  }
  const reopened = await reopenLostEnvelope(db, chain, sent);
  if (reopened) return inFlight(reopened);
  const earlier = await checkEarlier(context, chain, at, head);
  return nextTerms(context, chain, now, { earlier, cancels });
}
