import { type PublicClient, zeroAddress } from 'viem';
import type { AccountDerivation } from '../domain/account';
import { readSafe } from './safeState';

/** Whether the contract at an account's address is the account. */
export type AccountPresence =
  | { readonly kind: 'missing' }
  /** `secured`: the admins' Safe is its module. */
  | { readonly kind: 'fits'; readonly secured: boolean }
  | { readonly kind: 'different'; readonly reason: string };

/**
 * Inspects an account on chain: singleton, owner, threshold, modules, guard and fallback handler. It has no module but
 * `module`, where that is given.
 */
export async function inspectAccount(
  client: PublicClient,
  account: AccountDerivation,
  options: { readonly blockNumber?: bigint; readonly module?: string | undefined } = {},
): Promise<AccountPresence> {
  const found = await readSafe(client, account.address, options);
  if (found.kind !== 'safe') return found;
  const { owners, threshold, modules, guard, fallbackHandler } = found.state;
  const different = (reason: string): AccountPresence => ({ kind: 'different', reason });
  if (owners.length !== 1 || owners[0] !== account.ownerAddress) return different('it has other owners');
  if (threshold !== 1) return different('it has another threshold');
  if (modules.some((module) => module !== options.module)) return different('it has modules');
  if (guard !== zeroAddress) return different('it has a guard');
  if (fallbackHandler !== account.fallbackHandler) return different('it has another fallback handler');
  return { kind: 'fits', secured: modules.length > 0 };
}
