import type { Address, Hex } from 'viem';
import { ask, type ChainClient } from '../../chain/clients';
import {
  type Execution,
  executionAtNonce,
  executionInTransaction,
  firstSearched,
} from '../../chain/executions';
import { type AccountNonces, attemptsAtNonce } from '../../db/attempts';
import type { Db } from '../../db/database';
import { JournalError } from '../journal/entries';

/** A nonce of an account, and the block since which something may have used it. */
interface Searched extends AccountNonces {
  readonly account: Address;
  readonly safeNonce: bigint;
  readonly fromBlock: bigint;
}

/** What used a nonce, with the time of its block. */
export interface ShownExecution extends Pick<Execution, 'kind' | 'safeTxHash'> {
  readonly blockAt: Date;
}

/** What one endpoint shows at a nonce, with the network's confirmations; null where it shows nothing. */
async function shownBy(
  db: Db,
  chain: ChainClient,
  { account, safeNonce, fromBlock, ...on }: Searched,
): Promise<ShownExecution | null> {
  const { attempts, envelopes } = await attemptsAtNonce(db, on, safeNonce);
  let found: Execution | null = null;
  // The rows only say where to look.
  for (const { attemptId, transactionHash } of envelopes.toReversed()) {
    const safeTxHash = attempts.find(({ id }) => id === attemptId)?.safeTxHash as Hex;
    const input = { account, safeTxHash, transactionHash: transactionHash as Hex };
    found ??= await executionInTransaction(chain, input);
  }
  const head = await ask(chain, (rpc) => rpc.getBlockNumber());
  const since = firstSearched(fromBlock < head ? fromBlock : head);
  found ??= await executionAtNonce(chain, { account, nonce: safeNonce, fromBlock: since, toBlock: head });
  if (!found || head < found.blockNumber + BigInt(chain.network.confirmations)) return null;
  const { kind, safeTxHash, blockHash } = found;
  const { timestamp } = await ask(chain, (rpc) => rpc.getBlock({ blockHash }));
  return { kind, safeTxHash, blockAt: new Date(Number(timestamp) * 1_000) };
}

/**
 * What has used a nonce of an account, as all endpoints of the signer show it; null where there are none, or they show
 * nothing. Throws ChainUnavailable, and JournalError where they disagree.
 */
export async function shownOnChain(
  db: Db,
  endpoints: readonly ChainClient[],
  searched: Searched,
): Promise<ShownExecution | null> {
  const shown = await Promise.all(endpoints.map((chain) => shownBy(db, chain, searched)));
  if (new Set(shown.map((one) => JSON.stringify(one))).size > 1) {
    throw new JournalError(
      `the signerRpcUrls of network ${searched.networkId} disagree about nonce ${searched.safeNonce} of account ${searched.accountId}`,
    );
  }
  return shown[0] ?? null;
}
