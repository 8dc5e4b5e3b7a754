import { parseAbi, type TransactionReceipt } from 'viem';
import { ask, type ChainClient, ChainUnavailable } from './clients';
import { GAS_PRICE_ORACLE } from './dataFee';
import { feeOf, type ReceiptFee, rollupCharges } from './receiptFee';

const oracleAbi = parseAbi(['function getOperatorFee(uint256 gasUsed) view returns (uint256)']);

/** What an endpoint answers; null where it does not, such as of a block whose state it has forgotten. */
async function answered<T>(chain: ChainClient, question: Parameters<typeof ask<T>>[1]): Promise<T | null> {
  try {
    return await ask(chain, question);
  } catch (error) {
    if (error instanceof ChainUnavailable) return null;
    throw error;
  }
}

/** What the sender's balance lacks after the block, in wei; null where its block has more than one transaction of the sender. */
function lostInBlock(
  chain: ChainClient,
  { from: address, blockNumber }: TransactionReceipt,
): Promise<bigint | null> {
  return answered(chain, async (rpc) => {
    const [before, after] = await Promise.all(
      [blockNumber - 1n, blockNumber].map(async (number) => {
        const at = { address, blockNumber: number };
        const [balance, count] = await Promise.all([rpc.getBalance(at), rpc.getTransactionCount(at)]);
        return { balance, count };
      }),
    );
    return before && after && after.count - before.count === 1 ? before.balance - after.balance : null;
  });
}

/** The operator's fee, as the chain computes it in that block. Source: OP Stack specification, GasPriceOracle (Isthmus). */
function operatorFee(chain: ChainClient, gasUsed: bigint, blockNumber: bigint): Promise<bigint | null> {
  const call = { address: GAS_PRICE_ORACLE, abi: oracleAbi, functionName: 'getOperatorFee' } as const;
  return answered(chain, (rpc) => rpc.readContract({ ...call, args: [gasUsed], blockNumber }));
}

/**
 * What one of a relayer's chain transactions, which send no value, cost it. On the OP Stack its balance before and after the block
 * says that, whatever the fork charges and the node's receipts have; where it cannot, the receipt, and for the operator's fee the
 * chain's own oracle.
 */
export async function paidFee(chain: ChainClient, receipt: TransactionReceipt): Promise<ReceiptFee> {
  const fee = feeOf(receipt);
  const { gasUsed, gasPrice } = fee;
  if (chain.network.dataFee !== 'opStack' || gasUsed === null || gasPrice === null) return fee;
  const { l1Fee, operatorFeeConstant: constant } = rollupCharges(receipt);
  if (l1Fee === null || constant === null) return fee;
  const lost = await lostInBlock(chain, receipt);
  // Less than that: it has received money in the same block.
  if (lost !== null && lost - gasUsed * gasPrice >= l1Fee + constant) {
    return { ...fee, dataFee: lost - gasUsed * gasPrice };
  }
  // Nodes of the OP Stack say it of each transaction that a relayer sends: one that does not, charges all the same.
  if ((receipt as { readonly l1Fee?: unknown }).l1Fee == null) return { ...fee, dataFee: null };
  if (fee.dataFee !== null) return fee;
  const charged = await operatorFee(chain, gasUsed, receipt.blockNumber);
  return charged !== null && charged >= constant ? { ...fee, dataFee: l1Fee + charged } : fee;
}
