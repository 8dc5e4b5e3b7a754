import {
  type Address,
  encodeFunctionData,
  type Hex,
  type PublicClient,
  parseAbi,
  toHex,
  zeroAddress,
} from 'viem';
import type { AccountDerivation } from '../domain/account';
import { ask, type ChainClient, networkLabel } from './clients';
import { staticCallWord } from './evmCalls';
import { keccak256 } from './keccak';
import { type CanonicalContract, PROXY, SAFE_CONTRACTS } from './safeAccount';

/** keccak256("guard_manager.guard.address"), where a Safe keeps its guard. */
const GUARD_SLOT = '0x4a204f620c8c5ccdca3fd54d003badd85ba500436a431f0cbda4f558c93c34c8';
/** keccak256("fallback_manager.handler.address"), where a Safe keeps its fallback handler. */
const FALLBACK_HANDLER_SLOT = '0x6c9a6c4a39284e37ed1cf53d337577d14212a4870fb976a4366c693b939918d5';
const SENTINEL: Address = '0x0000000000000000000000000000000000000001';

const safeAbi = parseAbi([
  'function getOwners() view returns (address[])',
  'function getThreshold() view returns (uint256)',
  'function getModulesPaginated(address start, uint256 pageSize) view returns (address[] array, address next)',
  'function nonce() view returns (uint256)',
]);

/** The canonical contracts that are missing on a chain or have other code. */
export async function missingContracts(client: PublicClient): Promise<readonly CanonicalContract[]> {
  const found = await Promise.all(
    Object.values(SAFE_CONTRACTS).map(async (contract) => {
      const code = await client.getCode({ address: contract.address });
      return code && keccak256(code) === contract.codeHash ? [] : [contract];
    }),
  );
  return found.flat();
}

/**
 * Why a network cannot be used, or null: it serves another chain id, its blocks have no base fee (EIP-1559), or it lacks
 * one of the canonical contracts (checked by the hash of their code). Throws ChainUnavailable.
 */
export async function refuseNetwork(chain: ChainClient): Promise<string | null> {
  const { network } = chain;
  const chainId = await ask(chain, (rpc) => rpc.getChainId());
  if (chainId !== network.id) {
    return `network ${network.name} is ${network.id} in NETWORKS_FILE, but its RPC serves chain ${chainId}`;
  }
  const { baseFeePerGas } = await ask(chain, (rpc) => rpc.getBlock({ blockTag: 'latest' }));
  if (typeof baseFeePerGas !== 'bigint') {
    return `network ${networkLabel(chain)} has no base fee (EIP-1559): transactions cannot be sent there`;
  }
  const missing = await ask(chain, missingContracts);
  if (missing.length === 0) return null;
  const names = missing.map(({ name, address }) => `${name} (${address})`).join(', ');
  return `network ${networkLabel(chain)} lacks ${names}: accounts cannot be deployed there`;
}

const NONCE_CALL = encodeFunctionData({ abi: safeAbi, functionName: 'nonce' });
const NONCE_GAS = 100_000n;

/** The next nonce of an account on chain, or null when no contract answers at its address. Throws ChainUnavailable. */
export async function accountNonce(chain: ChainClient, address: string): Promise<bigint | null> {
  const answer = await staticCallWord(chain, { to: address as Address, data: NONCE_CALL, gas: NONCE_GAS });
  return answer === null ? null : BigInt(answer);
}

/** Whether the contract at an account's address is the account. */
type AccountPresence =
  | { readonly kind: 'missing' }
  | { readonly kind: 'fits' }
  | { readonly kind: 'different'; readonly reason: string };

/** Inspects an account on chain: singleton, owner, threshold, modules, guard and fallback handler. */
export async function inspectAccount(
  client: PublicClient,
  account: AccountDerivation,
  options: { blockNumber?: bigint } = {},
): Promise<AccountPresence> {
  const address = account.address as Address;
  const at = options.blockNumber === undefined ? {} : { blockNumber: options.blockNumber };
  const code = await client.getCode({ address, ...at });
  if (!code || code === '0x') return { kind: 'missing' };
  const read = { address, abi: safeAbi, ...at } as const;
  const different = (reason: string): AccountPresence => ({ kind: 'different', reason });
  if (keccak256(code) !== keccak256(PROXY.deployedBytecode)) return different('its code is not a Safe proxy');
  const slot = (key: Hex) => client.getStorageAt({ address, slot: key, ...at });
  const [singleton, guard, handler] = await Promise.all([
    slot(toHex(0n, { size: 32 })),
    slot(GUARD_SLOT),
    slot(FALLBACK_HANDLER_SLOT),
  ]);
  const holds = (word: Hex | undefined, expected: string) =>
    word !== undefined && BigInt(word) === BigInt(expected);
  if (!holds(singleton, account.singleton)) return different('it has another singleton');
  const [owners, threshold, [modules]] = await Promise.all([
    client.readContract({ ...read, functionName: 'getOwners' }),
    client.readContract({ ...read, functionName: 'getThreshold' }),
    client.readContract({ ...read, functionName: 'getModulesPaginated', args: [SENTINEL, 1n] }),
  ]);
  if (owners.length !== 1 || owners[0] !== account.ownerAddress) return different('it has other owners');
  if (threshold !== 1n) return different('it has another threshold');
  if (modules.length > 0) return different('it has modules');
  if (!holds(guard, zeroAddress)) return different('it has a guard');
  if (!holds(handler, account.fallbackHandler)) return different('it has another fallback handler');
  return { kind: 'fits' };
}
