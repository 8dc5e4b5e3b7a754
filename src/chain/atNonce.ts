import type { Address, Hex } from 'viem';
import { min } from '../domain/bigint';
import { ask, type ChainClient } from './clients';
import { type Execution, executionAtNonce, executionInTransaction, firstSearched } from './executions';
import { accountNonce } from './safe';

/** What is signed for one nonce of an account: a transaction, and maybe the empty call that cancels it. */
export interface SignedAtNonce {
  readonly account: Address;
  readonly transaction: {
    readonly id: bigint;
    readonly safeNonce: bigint;
    readonly safeTxHash: string;
    /** The head of the chain when it was signed. */
    readonly fromBlock: bigint;
  };
  readonly cancellation: { readonly id: bigint; readonly safeTxHash: string } | undefined;
  /** The envelopes of both, oldest first. */
  readonly envelopes: readonly { readonly attemptId: bigint; readonly transactionHash: string }[];
}

/** A nonce of an account, and the head of the chain when something was signed for it. */
interface SearchedNonce extends Pick<SignedAtNonce, 'account'> {
  readonly transaction: Pick<SignedAtNonce['transaction'], 'safeNonce' | 'fromBlock'>;
}

/** The number of the newest block. Throws ChainUnavailable. */
export function headOf(chain: ChainClient): Promise<bigint> {
  return ask(chain, (rpc) => rpc.getBlockNumber());
}

/**
 * The execution of one of these attempts in one of these envelopes, the newest first; null while none is seen. One request for
 * each. Throws ChainUnavailable.
 */
export async function findInEnvelopes(
  chain: ChainClient,
  account: Address,
  attempts: readonly { readonly id: bigint; readonly safeTxHash: string }[],
  envelopes: SignedAtNonce['envelopes'],
): Promise<Execution | null> {
  for (const { attemptId, transactionHash } of envelopes.toReversed()) {
    const found = await executionInTransaction(chain, {
      account,
      safeTxHash: attempts.find(({ id }) => id === attemptId)?.safeTxHash as Hex,
      transactionHash: transactionHash as Hex,
    });
    if (found) return found;
  }
  return null;
}

/** The execution that used the nonce in one of our own transactions; null while none is seen. Throws ChainUnavailable. */
export function findInOwn(chain: ChainClient, at: SignedAtNonce): Promise<Execution | null> {
  const { account, transaction, cancellation, envelopes } = at;
  return findInEnvelopes(chain, account, [transaction, ...(cancellation ? [cancellation] : [])], envelopes);
}

/** Whether the account has used the nonce, in the newest block. Throws ChainUnavailable. */
export async function isNonceUsed(
  chain: ChainClient,
  { account, transaction }: SignedAtNonce,
): Promise<boolean> {
  const next = await accountNonce(chain, account);
  return next !== null && next > transaction.safeNonce;
}

/**
 * Searches the logs for the execution that used the nonce, in anyone's transaction; null where they do not show it. Throws
 * ChainUnavailable.
 */
export function searchAtNonce(
  chain: ChainClient,
  { account, transaction: { safeNonce, fromBlock: signedAt } }: SearchedNonce,
  head: bigint,
): Promise<Execution | null> {
  return executionAtNonce(chain, {
    account,
    nonce: safeNonce,
    fromBlock: firstSearched(min(signedAt, head)),
    toBlock: head,
  });
}

/** The execution that used the nonce, in anyone's transaction, known or not; null while none is seen. Throws ChainUnavailable. */
export async function findAtNonce(
  chain: ChainClient,
  at: SignedAtNonce,
  head: bigint,
): Promise<Execution | null> {
  const own = await findInOwn(chain, at);
  if (own) return own;
  return (await isNonceUsed(chain, at)) ? searchAtNonce(chain, at, head) : null;
}

/** The time of the block of an execution; null before it has the network's confirmations. Throws ChainUnavailable. */
export async function confirmedAt(
  chain: ChainClient,
  { blockNumber, blockHash }: Pick<Execution, 'blockNumber' | 'blockHash'>,
  head: bigint,
): Promise<Date | null> {
  if (head < blockNumber + BigInt(chain.network.confirmations)) return null;
  const { timestamp } = await ask(chain, (rpc) => rpc.getBlock({ blockHash }));
  return new Date(Number(timestamp) * 1_000);
}

/** What an execution at the nonce of a transaction makes of it. */
export function outcomeKindOf(
  { transaction }: { readonly transaction: Pick<SignedAtNonce['transaction'], 'safeTxHash'> },
  { kind, safeTxHash }: Pick<Execution, 'kind' | 'safeTxHash'>,
): 'executed' | 'reverted' | 'cancelled' {
  if (safeTxHash !== transaction.safeTxHash) return 'cancelled';
  return kind === 'success' ? 'executed' : 'reverted';
}

/** Whether an execution is neither the transaction nor its cancellation: nobody here has authorized it. */
export function isUnknownExecution(
  { transaction, cancellation }: SignedAtNonce,
  { safeTxHash }: Execution,
): boolean {
  return safeTxHash !== transaction.safeTxHash && safeTxHash !== cancellation?.safeTxHash;
}
