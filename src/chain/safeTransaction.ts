import { type Address, encodeFunctionData, type Hex, hashTypedData, parseAbi, size, zeroAddress } from 'viem';

/**
 * What an account executes once its owner has signed it (Safe 1.4.1). The rest is fixed: operation CALL; baseGas,
 * gasPrice, gasToken and refundReceiver zero, so that nobody is paid for sending it.
 */
export interface SafeTransaction {
  readonly networkId: number;
  /** The account that executes it. */
  readonly account: Address;
  readonly to: Address;
  /** Wei. */
  readonly value: bigint;
  readonly data: Hex;
  /** Gas that the inner call must be able to use; above 0, or a failing call would not use up the nonce. */
  readonly safeTxGas: bigint;
  /** Nonce of the account. */
  readonly nonce: bigint;
}

const CALL = 0;

const SAFE_TX = {
  SafeTx: [
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'data', type: 'bytes' },
    { name: 'operation', type: 'uint8' },
    { name: 'safeTxGas', type: 'uint256' },
    { name: 'baseGas', type: 'uint256' },
    { name: 'gasPrice', type: 'uint256' },
    { name: 'gasToken', type: 'address' },
    { name: 'refundReceiver', type: 'address' },
    { name: 'nonce', type: 'uint256' },
  ],
} as const;

const executionAbi = parseAbi([
  'function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures) payable returns (bool success)',
]);

/** The hash that the owner signs, and by which the account's log names the execution. Source: EIP-712, Safe 1.4.1. */
export function safeTransactionHash(tx: SafeTransaction): Hex {
  return hashTypedData({
    domain: { chainId: tx.networkId, verifyingContract: tx.account },
    types: SAFE_TX,
    primaryType: 'SafeTx',
    message: {
      to: tx.to,
      value: tx.value,
      data: tx.data,
      operation: CALL,
      safeTxGas: tx.safeTxGas,
      baseGas: 0n,
      gasPrice: 0n,
      gasToken: zeroAddress,
      refundReceiver: zeroAddress,
      nonce: tx.nonce,
    },
  });
}

/** The call of an account that executes a signed transaction. Anyone can send it, once. */
export function executionCall(tx: SafeTransaction, signature: Hex): { to: Address; data: Hex } {
  return {
    to: tx.account,
    data: encodeFunctionData({
      abi: executionAbi,
      functionName: 'execTransaction',
      args: [tx.to, tx.value, tx.data, CALL, tx.safeTxGas, 0n, 0n, zeroAddress, zeroAddress, signature],
    }),
  };
}

/** Gas for the empty call of an account to itself. */
const CANCELLATION_GAS = 50_000n;

/** The transaction that uses up a nonce of an account and does nothing else. */
export function cancellation(of: Pick<SafeTransaction, 'networkId' | 'account' | 'nonce'>): SafeTransaction {
  const { networkId, account, nonce } = of;
  return { networkId, account, nonce, to: account, value: 0n, data: '0x', safeTxGas: CANCELLATION_GAS };
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

/** Gas for the calldata of an execution: the minimum (EIP-7623), and what the bytes add. */
function gasOfData(inner: Hex): { added: bigint; least: bigint } {
  const length = BigInt(size(inner));
  const zeros = BigInt(
    inner
      .slice(2)
      .match(/../g)
      ?.filter((byte) => byte === '00').length ?? 0,
  );
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
  return gas > least ? gas : least;
}

/** The largest safeTxGas whose execution stays within a ceiling of gas; negative where there is none. */
export function mostSafeTxGas(maxGas: bigint, data: Hex): bigint {
  const { added, least } = gasOfData(data);
  if (least > maxGas) return -1n;
  return ((maxGas - EXECUTION_GAS - added - 1n) * 63n ** 2n) / 64n ** 2n;
}
