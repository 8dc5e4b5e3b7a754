import type { TransactionReceipt } from 'viem';

/**
 * What a chain transaction cost its sender, as its receipt says; null: the receipt does not say it, or says what cannot be.
 * Gas, and wei.
 */
export interface ReceiptFee {
  readonly gasUsed: bigint | null;
  /** Of one gas. */
  readonly gasPrice: bigint | null;
  /** Of the data that a rollup publishes, charged beside the gas; 0 where none is. */
  readonly dataFee: bigint | null;
}

/** More than any currency has: what is above is not an amount. */
const TOO_MUCH = 2n ** 128n;

/** A quantity that may be one; else null. */
function quantity(value: unknown): bigint | null {
  if (typeof value === 'string' && !/^0x[0-9a-fA-F]{1,64}$/.test(value)) return null;
  if (typeof value !== 'string' && typeof value !== 'bigint') return null;
  const amount = BigInt(value);
  return amount >= 0n && amount < TOO_MUCH ? amount : null;
}

/**
 * The fee in a receipt. Source: `l1Fee` of OP Stack and Scroll, which is charged on top, and absent where it is 0. Arbitrum
 * (`gasUsedForL1`) and ZKsync have the data in `gasUsed`.
 */
export function feeOf(receipt: TransactionReceipt): ReceiptFee {
  const { l1Fee = null } = receipt as { readonly l1Fee?: unknown };
  return {
    gasUsed: quantity(receipt.gasUsed),
    gasPrice: quantity(receipt.effectiveGasPrice),
    dataFee: l1Fee === null ? 0n : quantity(l1Fee),
  };
}

const upTo = (amount: bigint | null, most: bigint) => (amount !== null && amount <= most ? amount : null);

/** A fee without what is more than its sender has signed: it cannot have been paid. */
export function boundedFee(
  { gasUsed, gasPrice, dataFee }: ReceiptFee,
  signed: { readonly gas: bigint; readonly maxFeePerGas: bigint },
): ReceiptFee {
  return { gasUsed: upTo(gasUsed, signed.gas), gasPrice: upTo(gasPrice, signed.maxFeePerGas), dataFee };
}

/** What was paid in all, in wei; null where a part of it is not known. */
export function totalFee({ gasUsed, gasPrice, dataFee }: ReceiptFee): bigint | null {
  return gasUsed === null || gasPrice === null || dataFee === null ? null : gasUsed * gasPrice + dataFee;
}
