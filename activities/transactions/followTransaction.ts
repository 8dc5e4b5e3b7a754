import type { ChainClient } from '../../src/chain/clients';
import { accountNonce } from '../../src/chain/safe';
import { type Attempt, envelopePayload } from '../../src/db/attempts';
import type { Envelope } from '../../src/db/envelopes';
import { findEnvelopePayload } from '../../src/db/followedAttempts';
import type { TransactionRef } from '../../src/domain/transaction';
import { type ChainCheck, checkEnvelope } from '../relayer/checkEnvelope';
import { followEnvelope } from '../relayer/followEnvelope';
import { requireChain } from '../relayer/relayerContext';
import { checkAtNonce, readAtNonce } from './atNonce';
import type { TransactionChainContext } from './chainContext';
import { attemptTerms, type TransactionFollowed } from './observation';

/** An envelope to follow; `reported` is the last report of what it waits for. */
export interface FollowTransaction extends TransactionRef {
  readonly envelopeId: string;
  readonly networkId: number;
  readonly reported: string | null;
}

type Ended = Extract<TransactionFollowed, { kind: 'decided' | 'reverted' | 'dropped' }>;

/** Checks a transaction and its envelope. */
async function check(
  context: TransactionChainContext,
  chain: ChainClient,
  { attempt, envelope }: { attempt: Attempt; envelope: Envelope },
  head: bigint,
): Promise<ChainCheck<Ended>> {
  // A cancellation may have been signed at its nonce meanwhile.
  const at = await readAtNonce(context.db, attempt, attempt.safeNonce);
  const seen = await checkAtNonce(context, chain, at, head);
  if ('outcome' in seen) return { end: { kind: 'decided', outcome: seen.outcome } };
  if (seen.blockNumber !== null) return { inBlock: seen.blockNumber };
  // The signer has recorded an outcome: it is to read it again before anything is sent again.
  if (at.signerOutcome !== null) return { end: { kind: 'dropped' } };
  const own = await checkEnvelope(context, chain, envelope, head);
  if (!('end' in own)) return own;
  if (own.end === 'dropped') return { end: { kind: 'dropped' } };
  // The attempt has not failed where an earlier nonce of the account is still unused.
  const next = await accountNonce(chain, at.account);
  // It has used the nonce: one of several nodes behind the endpoint lags, and has not shown the execution yet.
  if (own.end === 'mined' && next !== null && next > attempt.safeNonce) return { inBlock: null };
  const isEarly = next !== null && next < attempt.safeNonce;
  return { end: { kind: isEarly ? 'dropped' : 'reverted' } };
}

/**
 * Sends a stored envelope of a transaction and follows the transaction until it is confirmed, in anyone's
 * transaction. It returns earlier only when there is something to report. Throws the reason of `signal`.
 */
export async function followTransaction(
  context: TransactionChainContext,
  input: FollowTransaction,
  signal: AbortSignal,
): Promise<TransactionFollowed> {
  const { db } = context;
  const chain = requireChain(context, input.networkId);
  const { envelope, attempt, cancellation } = (await findEnvelopePayload(db, BigInt(input.envelopeId))) ?? {};
  // The database was restored from a backup: the id is unknown, or that of another envelope.
  if (!envelope || attempt?.transactionId !== input.transactionId) return { kind: 'dropped' };
  if (envelope.outcome === 'reverted' || envelope.outcome === 'dropped') return { kind: envelope.outcome };
  // What is to be cancelled is not sent: it is observed again, and its cancellation is signed.
  if (cancellation !== null) return { kind: 'dropped' };
  const followed = await followEnvelope<Ended>(
    context,
    {
      chain,
      envelope,
      reported: input.reported,
      check: (head) => check(context, chain, { attempt, envelope }, head),
      beforeResending: async () =>
        (await envelopePayload(db, envelope)).cancellation === null ? null : { kind: 'dropped' },
    },
    signal,
  );
  if (followed.kind !== 'stuck') return followed;
  // Its own account nonce: the signer finds no earlier one without an envelope.
  const terms = attemptTerms(followed.terms, attempt, attempt.fromBlock, attempt.safeNonce);
  return { kind: 'stuck', terms, cancels: attempt.kind === 'cancellation' };
}
