import type { Address, Hex } from 'viem';
import { ask, type ChainClient } from '../../src/chain/clients';
import {
  type Execution,
  executionAtNonce,
  executionInTransaction,
  firstSearched,
} from '../../src/chain/executions';
import { accountNonce } from '../../src/chain/safe';
import { type AccountNonces, type Attempt, attemptsAtNonce, noteConfirmations } from '../../src/db/attempts';
import { decideEnvelope, type Envelope } from '../../src/db/chain';
import type { Db } from '../../src/db/database';
import { executeTogether } from '../../src/db/rows';
import type { AttemptOutcome } from '../../src/domain/transaction';
import { failpoint } from '../../src/failpoints';
import type { RelayerContext } from '../relayer/context';
import { checkEnvelope } from '../relayer/envelopes';
import { relayerKey } from '../relayer/relayerKey';
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

/** The execution that used the nonce in one of our own transactions; null while none is seen. One request for each. */
export async function findInOwn(chain: ChainClient, at: AtNonce): Promise<Execution | null> {
  const { account, envelopes } = at;
  const attempts = attemptsOf(at);
  for (const envelope of envelopes.toReversed()) {
    const safeTxHash = attempts.find(({ id }) => id === envelope.attemptId)?.safeTxHash as Hex;
    const transactionHash = envelope.transactionHash as Hex;
    const found = await executionInTransaction(chain, { account, safeTxHash, transactionHash });
    if (found) return found;
  }
  return null;
}

/** Whether the account has used the nonce, in the newest block. */
export async function isNonceUsed(chain: ChainClient, { account, transaction }: AtNonce): Promise<boolean> {
  const next = await accountNonce(chain, account);
  return next !== null && next > transaction.safeNonce;
}

/** Searches the logs for the execution that used the nonce, in anyone's transaction; null where they do not show it. */
export function searchAtNonce(
  chain: ChainClient,
  { account, transaction: { safeNonce, fromBlock: signedAt } }: AtNonce,
  head: bigint,
): Promise<Execution | null> {
  const known = signedAt < head ? signedAt : head;
  return executionAtNonce(chain, {
    account,
    nonce: safeNonce,
    fromBlock: firstSearched(known),
    toBlock: head,
  });
}

/** The execution that used the nonce, in anyone's transaction, known or not; null while none is seen. */
export async function findAtNonce(chain: ChainClient, at: AtNonce, head: bigint): Promise<Execution | null> {
  const own = await findInOwn(chain, at);
  if (own) return own;
  return (await isNonceUsed(chain, at)) ? searchAtNonce(chain, at, head) : null;
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
    await executeTogether(noteConfirmations(db, at.transaction, 0));
    return { blockNumber: null };
  }
  const depth = head > execution.blockNumber ? head - execution.blockNumber : 0n;
  const needed = chain.network.confirmations;
  const confirmations = noteConfirmations(db, at.transaction, Math.min(Number(depth), needed));
  if (depth < BigInt(needed)) {
    await executeTogether(confirmations);
    return { blockNumber: execution.blockNumber };
  }
  failpoint('chain.confirmed');
  const undecided = envelopes.filter((one) => one.outcome === null);
  // The one whose receipt has the execution is in its block.
  const mined = undecided.filter((one) => one.transactionHash === execution.transactionHash);
  await executeTogether([...mined.map((one) => decideEnvelope(db, one, 'mined')), ...confirmations]);
  failpoint('chain.envelopeDecided');
  for (const envelope of undecided) {
    if (!mined.includes(envelope)) await checkEnvelope(db, chain, envelope, head);
  }
  await noteMined(context, mined);
  const outcome = await outcomeOf(context, chain, at, execution);
  failpoint('chain.outcomeSeen');
  return { outcome };
}

/** The number of the newest block. Throws ChainUnavailable. */
export function headOf(chain: ChainClient): Promise<bigint> {
  return ask(chain, (rpc) => rpc.getBlockNumber());
}
