import { type Address, type Hex, type PublicClient, toHex, zeroAddress } from 'viem';
import type { AccountDerivation } from '../domain/account';
import { keccak256 } from './keccak';
import { safeAbi } from './safe';
import { PROXY } from './safeAccount';

/** keccak256("guard_manager.guard.address"), where a Safe keeps its guard. */
const GUARD_SLOT = '0x4a204f620c8c5ccdca3fd54d003badd85ba500436a431f0cbda4f558c93c34c8';

/** keccak256("fallback_manager.handler.address"), where a Safe keeps its fallback handler. */
const FALLBACK_HANDLER_SLOT = '0x6c9a6c4a39284e37ed1cf53d337577d14212a4870fb976a4366c693b939918d5';
const SENTINEL: Address = '0x0000000000000000000000000000000000000001';

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
