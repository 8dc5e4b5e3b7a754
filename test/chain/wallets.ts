import { randomBytes } from 'node:crypto';
import {
  type Address,
  concatHex,
  encodeFunctionData,
  type Hex,
  hashTypedData,
  keccak256,
  parseAbi,
  serializeErc6492Signature,
} from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { ChainClient } from '../../src/chain/clients';
import { deploymentCall, deriveAccount } from '../../src/chain/safeAccount';
import type { AccountDerivation } from '../../src/domain/account';
import { endpointOf, LOCAL_FUNDER, rpc } from '../support/stack';
import { until } from '../support/until';

const GWEI = 10n ** 9n;

const safeAbi = parseAbi([
  'function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures) payable returns (bool)',
]);

/** Sends a transaction from the funder of a local chain and waits until it is in a block. */
export async function sendAsFunder(url: string, call: { to?: Address; data: Hex; value?: Hex }) {
  const hash = await rpc<Hex>(url, 'eth_sendTransaction', [
    { from: LOCAL_FUNDER.address, gas: '0x989680', ...call },
  ]);
  return until(`transaction ${hash} is in a block`, () =>
    rpc<{ status: Hex; contractAddress: Address | null } | null>(url, 'eth_getTransactionReceipt', [hash]),
  );
}

/** A payment of the funder as its bytes: whatever block has it, it is the same transaction. */
export async function signedPayment(url: string, to: Address, value: bigint): Promise<Hex> {
  const { address, privateKey } = LOCAL_FUNDER;
  const [nonce, chainId] = await Promise.all([
    rpc<Hex>(url, 'eth_getTransactionCount', [address, 'latest']),
    rpc<Hex>(url, 'eth_chainId', []),
  ]);
  return privateKeyToAccount(privateKey).signTransaction({
    ...{ to, value, nonce: Number(nonce), gas: 100_000n, chainId: Number(chainId) },
    ...{ maxFeePerGas: 100n * GWEI, maxPriorityFeePerGas: GWEI },
  });
}

/** Sends a signed transaction, and waits until it is in a block. */
export async function sendSigned(url: string, transaction: Hex): Promise<void> {
  const hash = await rpc<Hex>(url, 'eth_sendRawTransaction', [transaction]);
  await until(`transaction ${hash} is in a block`, () =>
    rpc<object | null>(url, 'eth_getTransactionReceipt', [hash]),
  );
}

/** Deploys an account as anyone can. */
export function deployAsFunder(url: string, account: AccountDerivation) {
  return sendAsFunder(url, deploymentCall(account));
}

/** A Safe with one owner, who may sign in its name. */
export interface SafeWallet {
  readonly owner: PrivateKeyAccount;
  readonly account: AccountDerivation;
  readonly address: Address;
}

/** A Safe with a new owner; it is on no chain yet. */
export function newSafe(): SafeWallet {
  const owner = privateKeyToAccount(generatePrivateKey());
  const account = deriveAccount(owner.address, `wallet ${randomBytes(8).toString('hex')}`);
  return { owner, account, address: account.address as Address };
}

/** A signature of a Safe with what it takes to deploy the Safe first (ERC-6492). */
export function wrapped(safe: SafeWallet, signature: Hex): Hex {
  const { to, data } = deploymentCall(safe.account);
  return serializeErc6492Signature({ address: to, data, signature });
}

/** The signature with which the owner of a Safe makes it sign a digest (EIP-1271). */
export async function signAsSafe(
  owner: PrivateKeyAccount,
  safe: { address: Address; chainId: number },
  digest: Hex,
): Promise<Hex> {
  return owner.sign({
    hash: hashTypedData({
      domain: { chainId: safe.chainId, verifyingContract: safe.address },
      types: { SafeMessage: [{ name: 'message', type: 'bytes' }] },
      primaryType: 'SafeMessage',
      message: { message: digest },
    }),
  });
}

/** A call of the account to itself, such as a change of its owners, signed by its owner and sent by the funder. */
export async function execAsOwner(
  client: ChainClient,
  owner: PrivateKeyAccount,
  safe: Address,
  call: { signature: string; args: readonly unknown[] },
) {
  const [item] = parseAbi([`function ${call.signature}`] as readonly string[]);
  const data = encodeFunctionData({ abi: [item], args: call.args } as never);
  const nonce = await client.rpc.readContract({
    address: safe,
    abi: parseAbi(['function nonce() view returns (uint256)']),
    functionName: 'nonce',
  });
  const zero: Address = '0x0000000000000000000000000000000000000000';
  const signature = await owner.signTypedData({
    domain: { chainId: client.network.id, verifyingContract: safe },
    types: {
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
    },
    primaryType: 'SafeTx',
    message: {
      to: safe,
      value: 0n,
      data,
      operation: 0,
      safeTxGas: 0n,
      baseGas: 0n,
      gasPrice: 0n,
      gasToken: zero,
      refundReceiver: zero,
      nonce,
    },
  });
  const receipt = await sendAsFunder(endpointOf(client.network), {
    to: safe,
    data: encodeFunctionData({
      abi: safeAbi,
      functionName: 'execTransaction',
      args: [safe, 0n, data, 0, 0n, 0n, 0n, zero, zero, signature],
    }),
  });
  if (receipt.status !== '0x1') throw new Error(`${call.signature} failed`);
}

/** Puts a contract with this runtime code on a chain and answers its address. */
export async function putCode(url: string, seed: string, code: Hex): Promise<Address> {
  const address: Address = `0x${keccak256(concatHex([`0x${Buffer.from(seed).toString('hex')}`])).slice(26)}`;
  await rpc(url, 'anvil_setCode', [address, code]);
  return address;
}
