import type { Address, Hex } from 'viem';
import { ask, type ChainClient, receiptOf } from './clients';
import { noncesIn, startLogsBackwards } from './executions';

/**
 * The executions of an account at the nonces from `from` to before `next`, in anyone's transactions, in their order.
 * Throws ChainUnavailable.
 */
export async function executionsFrom(
  chain: ChainClient,
  { account, from, next }: { account: Address; from: bigint; next: bigint },
): Promise<readonly { readonly nonce: bigint; readonly safeTxHash: Hex; readonly transactionHash: Hex }[]> {
  const found = new Map<bigint, { nonce: bigint; safeTxHash: Hex; transactionHash: Hex }>();
  const toBlock = await ask(chain, (rpc) => rpc.getBlockNumber());
  // The newest are searched first: a restore is about the recent past.
  for await (const logs of startLogsBackwards(chain, account, { fromBlock: 0n, toBlock })) {
    for (const transactionHash of new Set(logs.flatMap((log) => log.transactionHash ?? []))) {
      const receipt = await receiptOf(chain, transactionHash);
      for (const [nonce, safeTxHash] of noncesIn(account, receipt?.logs ?? [])) {
        if (nonce >= from && nonce < next) found.set(nonce, { nonce, safeTxHash, transactionHash });
      }
    }
    if (found.size >= Number(next - from)) break;
  }
  return [...found.values()].sort((a, b) => (a.nonce < b.nonce ? -1 : 1));
}
