import { type Address, encodeFunctionData, type Hex, parseAbi, zeroAddress } from 'viem';
import { hashTypedData } from './typedData';

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
