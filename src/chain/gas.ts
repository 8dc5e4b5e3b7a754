import type { Hex } from 'viem';
import { max, min } from '../domain/bigint';
import type { DataCost } from './dataCost';
import { bytesOf } from './keccak';
import type { SafeTransaction } from './safeTransaction';

/** Gas of an empty transfer, which fills a nonce. */
export const FILLER_GAS = 21_000n;
/** Gas above what was used or estimated, in percent. */
const MARGIN_PERCENT = 130n;

/** Gas that was used or estimated, with a margin. */
export function withMargin(gas: bigint): bigint {
  return (gas * MARGIN_PERCENT) / 100n;
}

/** A call that ended without a reason after so much of its gas has used it up, in percent. */
const USED_UP_PERCENT = 98n;

/** Whether a call that used some of its gas has used it up. */
export function isUsedUp(used: bigint, gas: bigint): boolean {
  return used >= (gas * USED_UP_PERCENT) / 100n;
}

/** Gas of every transaction that executes one of an account, whatever it does. */
const EXECUTION_GAS = 100_000n;
/** Gas before the first instruction, and for a byte of calldata. Sources: EIP-2028, EIP-7623. */
const INTRINSIC_GAS = 21_000n;
const GAS_PER_ZERO_BYTE = 4n;
const GAS_PER_BYTE = 16n;
const FLOOR_GAS_PER_ZERO_BYTE = 10n;
const FLOOR_GAS_PER_BYTE = 40n;
/** The account copies the inner call's data into its log and, four times, into its memory. */
const GAS_PER_LOG_BYTE = 8n;
const COPIES = 4n;

function countZeros(bytes: Uint8Array): number {
  let zeros = 0;
  for (const byte of bytes) if (byte === 0) zeros += 1;
  return zeros;
}

/** Gas for the calldata of an execution: the minimum (EIP-7623), and what the bytes add. */
function gasOfData(inner: Hex): { added: bigint; least: bigint } {
  const bytes = bytesOf(inner);
  const length = BigInt(bytes.length);
  const zeros = BigInt(countZeros(bytes));
  const others = length - zeros;
  const words = (COPIES * length + 31n) / 32n;
  const memory = 6n * words + (words * words) / 512n;
  return {
    added: zeros * GAS_PER_ZERO_BYTE + others * GAS_PER_BYTE + length * GAS_PER_LOG_BYTE + memory,
    // The other arguments of execTransaction are at most 600 bytes, most of them zero.
    least: INTRINSIC_GAS + zeros * FLOOR_GAS_PER_ZERO_BYTE + others * FLOOR_GAS_PER_BYTE + 12_000n,
  };
}

/** Gas of a transaction that executes one of an account, so that its inner call can use all of its safeTxGas. */
export function executionGas({ safeTxGas, data }: Pick<SafeTransaction, 'safeTxGas' | 'data'>): bigint {
  const { added, least } = gasOfData(data);
  // A call gets at most 63/64 of what is left (EIP-150), and the account's code runs inside a call of its proxy.
  const gas = (safeTxGas * 64n ** 2n) / 63n ** 2n + 1n + EXECUTION_GAS + added;
  return max(gas, least);
}

/** The largest safeTxGas whose execution stays within a ceiling of gas; negative where there is none. */
export function mostSafeTxGas(maxGas: bigint, data: Hex): bigint {
  const { added, least } = gasOfData(data);
  if (least > maxGas) return -1n;
  return ((maxGas - EXECUTION_GAS - added - 1n) * 63n ** 2n) / 64n ** 2n;
}

/** Gas of the next envelope after one that reverted completely, in percent. */
const REVERTED_GAS_PERCENT = 150n;
/** After this many envelopes that reverted completely the next one waits for an operator. */
export const MAX_WHOLE_REVERTS = 3;

/** Gas of the envelope that executes a transaction of an account, after others that reverted completely. */
export function gasAfterReverts(
  content: Pick<SafeTransaction, 'safeTxGas' | 'data'>,
  reverts: number,
): bigint {
  let gas = executionGas(content);
  for (let i = 0; i < reverts; i += 1) gas = (gas * REVERTED_GAS_PERCENT) / 100n;
  return gas;
}

/** The same, and what its data uses on a rollup besides: at most what the signer signs, and at most `maxGas`. */
export function gasWithData(
  content: Pick<SafeTransaction, 'safeTxGas' | 'data'>,
  reverts: number,
  { gas }: Pick<DataCost, 'gas'>,
  maxGas: bigint,
): bigint {
  const most = min(gasAfterReverts(content, MAX_WHOLE_REVERTS), maxGas);
  return min(gasAfterReverts(content, reverts) + gas, most);
}
