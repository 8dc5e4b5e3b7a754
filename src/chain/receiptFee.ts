import type { TransactionReceipt } from 'viem';

/**
 * What a chain transaction cost its sender, as its receipt says; null: the receipt does not say it, or says what cannot be.
 * Gas, and wei.
 */
export interface ReceiptFee {
  readonly gasUsed: bigint | null;
  /** Of one gas. */
  readonly gasPrice: bigint | null;
  /** What a rollup charges beside the gas, for its data and for its operator; 0 where nothing is. */
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

/** What a receipt of a rollup says of charges beside the gas: wei, and parameters; each 0 where it says nothing, null: nonsense. */
interface RollupCharges {
  readonly l1Fee: bigint | null;
  readonly operatorFeeScalar: bigint | null;
  readonly operatorFeeConstant: bigint | null;
}

/**
 * Source: `l1Fee` of OP Stack and Scroll, absent where it is 0; `operatorFeeScalar` and `operatorFeeConstant` of the OP Stack
 * since Isthmus, absent where both are 0.
 */
export function rollupCharges(receipt: TransactionReceipt): RollupCharges {
  const said = receipt as unknown as Readonly<Record<string, unknown>>;
  const read = (name: keyof RollupCharges) => (said[name] == null ? 0n : quantity(said[name]));
  return {
    l1Fee: read('l1Fee'),
    operatorFeeScalar: read('operatorFeeScalar'),
    operatorFeeConstant: read('operatorFeeConstant'),
  };
}

/**
 * The fee in a receipt. What is charged beside the gas is not known where the operator of an OP Stack charges by the gas: the formula
 * depends on the fork (Isthmus, Jovian), which receipts do not say. Arbitrum (`gasUsedForL1`) and ZKsync have the data in `gasUsed`.
 */
export function feeOf(receipt: TransactionReceipt): ReceiptFee {
  const { l1Fee, operatorFeeScalar, operatorFeeConstant } = rollupCharges(receipt);
  const isKnown = l1Fee !== null && operatorFeeConstant !== null && operatorFeeScalar === 0n;
  return {
    gasUsed: quantity(receipt.gasUsed),
    gasPrice: quantity(receipt.effectiveGasPrice),
    dataFee: isKnown ? l1Fee + operatorFeeConstant : null,
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
