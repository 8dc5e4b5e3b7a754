import type { FunctionParameter } from './callText';
import { displayAmount } from './policyText';
import type { TransactionContent } from './transactionContent';
import { type Asset, assetOf, type TransactionFacts } from './transactionText';

/** The content of a token transfer, as the API shows it. */
export interface TokenTransferData {
  readonly destination: string;
  readonly asset: Asset;
  /** In the smallest unit, decimal digits. */
  readonly rawAmount: string;
  /** In whole units, decimal; in the smallest unit where the token reports no decimals. */
  readonly displayAmount: string;
  readonly networkId: number;
}

/** The content of any other call, as the API shows it. */
interface ContractInteractionData {
  readonly toAddress: string;
  /** 0x hex, as it was sent. */
  readonly calldata: string;
  readonly networkId: number;
  /** Native currency that the call sends, in its smallest unit. */
  readonly value: string;
  /** Absent where the function is not known. */
  readonly functionName?: string;
  readonly functionParameters?: readonly FunctionParameter[];
  /** Absent where the calldata is the canonical encoding. */
  readonly encodingFaults?: readonly string[];
}

/** The content of a transaction, as the API shows it in `data`. */
export function transactionData(
  content: TransactionContent,
  facts: TransactionFacts,
): TokenTransferData | ContractInteractionData {
  const networkId = facts.network.id;
  if (content.type === 'TOKEN_TRANSFER') {
    const asset = assetOf(content, facts);
    const rawAmount = String(content.amount);
    const shown = displayAmount(rawAmount, asset.decimals ?? 0);
    return { destination: content.destination, asset, rawAmount, displayAmount: shown, networkId };
  }
  const { contractAddress: toAddress, value } = content;
  return { toAddress, calldata: facts.calldata, networkId, value: String(value), ...facts.call };
}
