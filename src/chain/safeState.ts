import { type Address, type Hex, type PublicClient, toHex } from 'viem';
import { SENTINEL } from '../domain/adminsSafe';
import { checksumAddress } from './address';
import { keccak256 } from './keccak';
import { safeAbi } from './safe';
import { PROXY, SAFE_CONTRACTS } from './safeAccount';

/** keccak256("guard_manager.guard.address"), where a Safe keeps its guard. */
const GUARD_SLOT = '0x4a204f620c8c5ccdca3fd54d003badd85ba500436a431f0cbda4f558c93c34c8';

/** keccak256("fallback_manager.handler.address"), where a Safe keeps its fallback handler. */
const FALLBACK_HANDLER_SLOT = '0x6c9a6c4a39284e37ed1cf53d337577d14212a4870fb976a4366c693b939918d5';

/** More than any Safe has that this service knows; of one with more, these are the newest. */
const MOST_MODULES = 20n;

/** What a Safe 1.4.1 is on chain. Addresses are checksummed. */
interface SafeState {
  readonly owners: readonly string[];
  readonly threshold: number;
  /** The newest first. */
  readonly modules: readonly string[];
  /** The zero address where it has none. */
  readonly guard: string;
  readonly fallbackHandler: string;
  readonly nonce: bigint;
}

/** What is at the address of a Safe. */
export type SafeFound =
  | { readonly kind: 'missing' }
  | { readonly kind: 'different'; readonly reason: string }
  | { readonly kind: 'safe'; readonly state: SafeState };

/** Reads a proxy of the SafeL2 1.4.1 singleton, now or at a block. Throws what `client` throws. */
export async function readSafe(
  client: PublicClient,
  safe: string,
  { blockNumber }: { readonly blockNumber?: bigint } = {},
): Promise<SafeFound> {
  const address = safe as Address;
  const at = blockNumber === undefined ? {} : { blockNumber };
  const code = await client.getCode({ address, ...at });
  if (!code || code === '0x') return { kind: 'missing' };
  if (keccak256(code) !== keccak256(PROXY.deployedBytecode)) {
    return { kind: 'different', reason: 'its code is not a Safe proxy' };
  }
  const slot = async (key: Hex) =>
    checksumAddress(
      toHex(
        BigInt((await client.getStorageAt({ address, slot: key, ...at })) ?? '0x0') & ((1n << 160n) - 1n),
        {
          size: 20,
        },
      ),
    );
  const [singleton, guard, fallbackHandler] = await Promise.all([
    slot(toHex(0n, { size: 32 })),
    slot(GUARD_SLOT),
    slot(FALLBACK_HANDLER_SLOT),
  ]);
  if (singleton !== SAFE_CONTRACTS.singleton.address) {
    return { kind: 'different', reason: 'it has another singleton' };
  }
  const read = { address, abi: safeAbi, ...at } as const;
  const [owners, threshold, [modules], nonce] = await Promise.all([
    client.readContract({ ...read, functionName: 'getOwners' }),
    client.readContract({ ...read, functionName: 'getThreshold' }),
    client.readContract({
      ...read,
      functionName: 'getModulesPaginated',
      args: [SENTINEL as Address, MOST_MODULES],
    }),
    client.readContract({ ...read, functionName: 'nonce' }),
  ]);
  return {
    kind: 'safe',
    state: { owners, threshold: Number(threshold), modules, guard, fallbackHandler, nonce },
  };
}
