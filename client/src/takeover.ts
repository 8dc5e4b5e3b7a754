import {
  type Address,
  concatHex,
  encodeFunctionData,
  encodePacked,
  type Hex,
  pad,
  parseAbi,
  size,
  zeroHash,
} from 'viem';
import { fieldsOf, type TypedData } from './payload.ts';
import { SAFE_CONTRACTS } from './safes.ts';

/** The head of the lists in which a Safe keeps its owners and modules: what is first has it as its predecessor. */
export const SENTINEL: Address = '0x0000000000000000000000000000000000000001';

const CALL = 0;
const DELEGATECALL = 1;

/** The functions of a Safe that a takeover uses. Source: Safe 1.4.1. */
export const safeAbi = parseAbi([
  'function approveHash(bytes32 hash)',
  'function approvedHashes(address owner, bytes32 hash) view returns (uint256)',
  'function disableModule(address prevModule, address module)',
  'function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures) payable returns (bool success)',
  'function execTransactionFromModule(address to, uint256 value, bytes data, uint8 operation) returns (bool success)',
  'function getModulesPaginated(address start, uint256 pageSize) view returns (address[] array, address next)',
  'function getOwners() view returns (address[])',
  'function getThreshold() view returns (uint256)',
  'function nonce() view returns (uint256)',
  'function swapOwner(address prevOwner, address oldOwner, address newOwner)',
]);
const multiSendAbi = parseAbi(['function multiSend(bytes transactions)']);

/** A call of the admins' Safe, without value. */
export interface Call {
  readonly to: Address;
  readonly data: Hex;
}

/** What the admins' Safe executes once enough admins have signed it. The rest of a Safe transaction is zero. */
export interface AdminsTransaction {
  readonly to: Address;
  /** Wei. */
  readonly value: bigint;
  readonly data: Hex;
  /** 0: a call; 1: a delegatecall, of MultiSendCallOnly alone. */
  readonly operation: 0 | 1;
}

/** An account as it is taken over. */
export interface TakenAccount {
  readonly address: Address;
  /** Its only owner, the signing key. */
  readonly owner: Address;
}

/** The signature of a Safe that calls: it needs none but that it is the caller. Source: Safe 1.4.1, v = 1. */
export const signatureOfCaller = (safe: Address): Hex =>
  concatHex([pad(safe.toLowerCase() as Address, { size: 32 }), zeroHash, '0x01']);

/**
 * The calls of the admins' Safe that make it the owner of accounts. First it takes its module, the keeper, away: whoever has
 * the signing key could change its owners with it. `before` is the module in front of that one. An account that has another
 * owner by then stays as it is.
 */
export function takeoverCalls(
  adminsSafe: Address,
  accounts: readonly TakenAccount[],
  keeper?: { readonly address: Address; readonly before: Address },
): Call[] {
  const abi = safeAbi;
  const disabled = keeper
    ? [
        {
          to: adminsSafe,
          data: encodeFunctionData({
            abi,
            functionName: 'disableModule',
            args: [keeper.before, keeper.address],
          }),
        },
      ]
    : [];
  const swapped = accounts.map(({ address, owner }) => {
    const swap = encodeFunctionData({
      abi,
      functionName: 'swapOwner',
      args: [SENTINEL, owner, adminsSafe],
    });
    const functionName = 'execTransactionFromModule';
    return {
      to: address,
      data: encodeFunctionData({ abi, functionName, args: [address, 0n, swap, CALL] }),
    };
  });
  return [...disabled, ...swapped];
}

/** Calls as one transaction of a Safe: all of them are done, or none. Source: MultiSendCallOnly 1.4.1. */
export function together(calls: readonly Call[]): AdminsTransaction {
  const packed = calls.map(({ to, data }) =>
    encodePacked(
      ['uint8', 'address', 'uint256', 'uint256', 'bytes'],
      [CALL, to, 0n, BigInt(size(data)), data],
    ),
  );
  return {
    to: SAFE_CONTRACTS.multiSendCallOnly,
    value: 0n,
    data: encodeFunctionData({ abi: multiSendAbi, functionName: 'multiSend', args: [concatHex(packed)] }),
    operation: DELEGATECALL,
  };
}

/** Gas that a takeover may use at most, by its parts. Measured: test/chain/takeover.test.ts. */
const GAS = { fixed: 120_000n, perOwner: 12_000n, perAccount: 70_000n };

/** The most accounts of one takeover: its gas stays well below the 2^24 of one transaction (EIP-7825). */
export const MAX_TAKEN = 100;

/** The gas to send a takeover with: more than it uses. What is not used costs nothing. */
export function takeoverGas(accounts: number, owners: number): bigint {
  return GAS.fixed + GAS.perOwner * BigInt(owners) + GAS.perAccount * BigInt(accounts);
}

/** Accounts in as many takeovers as they need. */
export function inTakeovers<T>(accounts: readonly T[]): T[][] {
  const groups = Math.ceil(accounts.length / MAX_TAKEN);
  return Array.from({ length: groups }, (_, i) => accounts.slice(i * MAX_TAKEN, (i + 1) * MAX_TAKEN));
}

const SAFE_TX =
  'address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,address gasToken,address refundReceiver,uint256 nonce';
const ZERO_ADDRESS: Address = '0x0000000000000000000000000000000000000000';

/** What the admins sign. Amounts are decimal texts, as wallets show them. Source: EIP-712, Safe 1.4.1. */
export function safeTypedData(
  chainId: number,
  adminsSafe: Address,
  transaction: AdminsTransaction,
  nonce: bigint,
): TypedData<Readonly<Record<string, string | number>>> {
  const { to, value, data, operation } = transaction;
  return {
    types: {
      EIP712Domain: fieldsOf('uint256 chainId,address verifyingContract'),
      SafeTx: fieldsOf(SAFE_TX),
    },
    primaryType: 'SafeTx',
    domain: { chainId, verifyingContract: adminsSafe },
    message: {
      to,
      value: String(value),
      data,
      operation,
      safeTxGas: '0',
      baseGas: '0',
      gasPrice: '0',
      gasToken: ZERO_ADDRESS,
      refundReceiver: ZERO_ADDRESS,
      nonce: String(nonce),
    },
  };
}

/** The call of a Safe that executes a transaction, by its signatures: sorted by their owners. */
export function executionData(
  { to, value, data, operation }: AdminsTransaction,
  signatures: readonly { readonly owner: Address; readonly signature: Hex }[],
): Hex {
  const sorted = [...signatures].sort((one, other) =>
    one.owner.toLowerCase() < other.owner.toLowerCase() ? -1 : 1,
  );
  return encodeFunctionData({
    abi: safeAbi,
    functionName: 'execTransaction',
    args: [
      to,
      value,
      data,
      operation,
      0n,
      0n,
      0n,
      ZERO_ADDRESS,
      ZERO_ADDRESS,
      concatHex(sorted.map(({ signature }) => signature)),
    ],
  });
}
