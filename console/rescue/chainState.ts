import type { RescueKit } from '@orgwallet/client/rescue';
import { SAFE_CONTRACTS, SENTINEL, safeAbi } from '@orgwallet/client/rescue';
import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, parseAbi } from 'viem';
import type { BrowserWallet } from './browserWallet.ts';

/** What a Safe is on chain. */
export interface SafeOnChain {
  readonly owners: readonly Address[];
  readonly threshold: number;
  /** The newest first. */
  readonly modules: readonly Address[];
  readonly nonce: bigint;
}

/** An account of the kit on a network. */
export interface AccountOnChain {
  readonly name: string;
  readonly address: Address;
  /** Wei. */
  readonly balance: bigint;
  /**
   * `ready`: the admins' Safe is a module, so that it can become the owner. `taken`: it is the owner. `locked`: neither.
   */
  readonly state: 'ready' | 'taken' | 'locked' | 'notDeployed';
  /** The only owner; undefined where there are more, or none. */
  readonly owner: Address | undefined;
}

/** What a network says of an organization. */
export interface ChainState {
  /** Undefined where there is none on this network. */
  readonly adminsSafe: SafeOnChain | undefined;
  /** Whether it has the contract that does several calls at once: without it a takeover would do nothing. */
  readonly hasMultiSend: boolean;
  readonly accounts: readonly AccountOnChain[];
}

const MOST_MODULES = 50n;

/** Reads a Safe, as the node of a wallet says. */
async function readSafe(wallet: BrowserWallet, address: Address): Promise<SafeOnChain | undefined> {
  if ((await wallet.ask<Hex>('eth_getCode', address, 'latest')) === '0x') return undefined;
  const call = async (data: Hex) => wallet.ask<Hex>('eth_call', { to: address, data }, 'latest');
  const read = async <T>(functionName: 'getOwners' | 'getThreshold' | 'nonce') =>
    decodeFunctionResult({
      abi: safeAbi,
      functionName,
      data: await call(encodeFunctionData({ abi: safeAbi, functionName })),
    }) as T;
  const functionName = 'getModulesPaginated';
  const args = [SENTINEL, MOST_MODULES] as const;
  const modules = await call(encodeFunctionData({ abi: safeAbi, functionName, args }));
  return {
    owners: await read<readonly Address[]>('getOwners'),
    threshold: Number(await read<bigint>('getThreshold')),
    nonce: await read<bigint>('nonce'),
    modules: decodeFunctionResult({ abi: safeAbi, functionName, data: modules })[0],
  };
}

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

/** Whether an address is among others, in whatever case. */
export const isAmong = (address: string, others: readonly string[]) =>
  others.some((one) => isSame(one, address));

async function readAccount(
  wallet: BrowserWallet,
  { name, address }: { readonly name: string; readonly address: Address },
  adminsSafe: Address,
): Promise<AccountOnChain> {
  const balance = BigInt(await wallet.ask<Hex>('eth_getBalance', address, 'latest'));
  const safe = await readSafe(wallet, address);
  if (!safe) return { name, address, balance, state: 'notDeployed', owner: undefined };
  const owner = safe.owners.length === 1 ? safe.owners[0] : undefined;
  const isTaken = owner !== undefined && isSame(owner, adminsSafe);
  const isReady = owner !== undefined && isAmong(adminsSafe, safe.modules);
  const state = isTaken ? 'taken' : isReady ? 'ready' : 'locked';
  return { name, address, balance, state, owner };
}

/** Reads what a network says of the accounts of a kit; `reading` hears of each. */
export async function readChain(
  wallet: BrowserWallet,
  { adminsSafe, networks }: RescueKit,
  networkId: number,
  reading: (text: string) => void,
): Promise<ChainState> {
  const network = networks.find((one) => one.networkId === networkId);
  const accounts: AccountOnChain[] = [];
  // One after the other: a wallet's node limits how much it is asked at once.
  for (const [i, account] of (network?.accounts ?? []).entries()) {
    reading(`Reading account ${i + 1} of ${network?.accounts.length}.`);
    accounts.push(await readAccount(wallet, account, adminsSafe));
  }
  const code = await wallet.ask<Hex>('eth_getCode', SAFE_CONTRACTS.multiSendCallOnly, 'latest');
  return { adminsSafe: await readSafe(wallet, adminsSafe), hasMultiSend: code !== '0x', accounts };
}

/** The owners of the admins' Safe who have approved a hash on chain. */
export async function approvalsOf(
  wallet: BrowserWallet,
  { address, owners }: { readonly address: Address; readonly owners: readonly Address[] },
  hash: Hex,
): Promise<Address[]> {
  const approved: Address[] = [];
  for (const owner of owners) {
    const data = encodeFunctionData({ abi: safeAbi, functionName: 'approvedHashes', args: [owner, hash] });
    if (BigInt(await wallet.ask<Hex>('eth_call', { to: address, data }, 'latest')) > 0n) approved.push(owner);
  }
  return approved;
}

/** ERC-20. */
export const tokenAbi = parseAbi([
  'function balanceOf(address) view returns (uint256)',
  'function decimals() view returns (uint8)',
  'function symbol() view returns (string)',
  'function transfer(address to, uint256 amount) returns (bool)',
]);

/** What an account has of a token. Throws Error where the address is not one of a token. */
export async function readToken(wallet: BrowserWallet, token: Address, account: Address) {
  const read = async <T>(
    functionName: 'balanceOf' | 'decimals' | 'symbol',
    args: readonly [Address] | [],
  ) => {
    const data = encodeFunctionData({ abi: tokenAbi, functionName, args } as Parameters<
      typeof encodeFunctionData
    >[0]);
    const answer = await wallet.ask<Hex>('eth_call', { to: token, data }, 'latest');
    return decodeFunctionResult({ abi: tokenAbi, functionName, data: answer }) as T;
  };
  try {
    return {
      balance: await read<bigint>('balanceOf', [account]),
      decimals: Number(await read<number>('decimals', [])),
      symbol: await read<string>('symbol', []),
    };
  } catch {
    throw new Error(`${token} is not a token (ERC-20) on this network.`);
  }
}
