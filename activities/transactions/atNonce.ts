import type { Address } from 'viem';
import { findAtNonce } from '../../src/chain/atNonce';
import type { ChainClient } from '../../src/chain/clients';
import { paidFee } from '../../src/chain/paidFee';
import { boundedFee } from '../../src/chain/receiptFee';
import { type AccountNonces, type Attempt, attemptsAtNonce } from '../../src/db/attempts';
import type { Db } from '../../src/db/database';
import type { Envelope } from '../../src/db/envelopes';
import { noteConfirmations } from '../../src/db/followedAttempts';
import { decideEnvelope } from '../../src/db/followedEnvelopes';
import { recordFee } from '../../src/db/relayerFees';
import { executeBatch } from '../../src/db/rows';
import type { AttemptOutcome } from '../../src/domain/transaction';
import { failpoint } from '../../src/failpoints';
import { checkEnvelope } from '../relayer/checkEnvelope';
import { timeOfBlock } from '../relayer/heads';
import type { RelayerContext } from '../relayer/relayerContext';
import { relayerKey } from '../relayer/sendLog';
import { type AtNonce, outcomeOf } from './outcome';

/** The attempts at a nonce of an account. Throws when there is none. */
export async function readAtNonce(db: Db, account: AccountNonces, safeNonce: bigint): Promise<AtNonce> {
  const { attempts, accountAddress, ...stored } = await attemptsAtNonce(db, account, safeNonce);
  const transaction = attempts.find(({ kind }) => kind === 'transaction');
  if (!transaction) throw new Error(`nothing was signed at nonce ${safeNonce} of ${account.accountId}`);
  return {
    account: accountAddress as Address,
    transaction,
    cancellation: attempts.find(({ kind }) => kind === 'cancellation'),
    ...stored,
  };
}

/** Both attempts at a nonce, the transaction first. */
export function attemptsOf({ transaction, cancellation }: AtNonce): Attempt[] {
  return cancellation ? [transaction, cancellation] : [transaction];
}

/** A relayer has used the nonces of its envelopes that are confirmed. */
async function noteMined({ transactionCounts }: RelayerContext, mined: readonly Envelope[]): Promise<void> {
  for (const { networkId, relayerAddress, relayerNonce } of mined) {
    const key = relayerKey(networkId, relayerAddress);
    const known = await transactionCounts.fresh(key)?.catch(() => 0);
    transactionCounts.note(key, Math.max(known ?? 0, relayerNonce + 1));
  }
}

/** The outcome at a nonce, once it is confirmed; else the number of its block, null while it is in none. */
export async function checkAtNonce(
  context: RelayerContext,
  chain: ChainClient,
  at: AtNonce,
  head: bigint,
): Promise<{ outcome: AttemptOutcome } | { blockNumber: bigint | null }> {
  const { db } = context;
  const { envelopes } = at;
  const execution = await findAtNonce(chain, at, head);
  if (!execution) {
    await executeBatch(noteConfirmations(db, at.transaction, 0));
    return { blockNumber: null };
  }
  const depth = head > execution.blockNumber ? head - execution.blockNumber : 0n;
  const needed = chain.network.confirmations;
  const confirmations = noteConfirmations(db, at.transaction, Math.min(Number(depth), needed));
  if (depth < BigInt(needed)) {
    await executeBatch(confirmations);
    return { blockNumber: execution.blockNumber };
  }
  failpoint('chain.confirmed');
  const undecided = envelopes.filter((one) => one.outcome === null);
  // The one whose receipt has the execution is in its block, which may be another one than before.
  const mined = envelopes.filter((one) => one.transactionHash === execution.transactionHash);
  const blockAt = await timeOfBlock(context, chain, execution.blockHash);
  const { blockNumber } = execution;
  const fee = mined.length > 0 ? await paidFee(chain, execution.receipt) : undefined;
  const fees = fee
    ? mined.map((one) => recordFee(db, one, { ...boundedFee(fee, one), blockNumber, blockAt }))
    : [];
  await executeBatch([...mined.map((one) => decideEnvelope(db, one, 'mined')), ...confirmations], fees);
  failpoint('chain.envelopeDecided');
  for (const envelope of undecided) {
    if (!mined.includes(envelope)) await checkEnvelope(context, chain, envelope, head);
  }
  await noteMined(context, mined);
  const outcome = await outcomeOf(db, chain, at, execution, { blockAt, fee });
  failpoint('chain.outcomeSeen');
  return { outcome };
}
