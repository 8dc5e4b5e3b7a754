import { isAccountAddress } from '../db/accounts';
import type { Db } from '../db/database';
import { NATIVE_CURRENCY } from '../domain/policy';
import type { TransactionContent } from '../domain/transactionContent';
import type { WalletCode } from '../domain/wallet';

/**
 * Whether a token transfer goes to a contract, which may have no function that sends tokens on. null for anything else: other
 * transactions, accounts of the organization, and delegated keys (EIP-7702), since whoever has the key sends what is
 * there. `unknown` while the node does not answer.
 */
export async function readRecipientCode(
  db: Db,
  readCode: (address: string) => Promise<WalletCode>,
  { organizationId, content }: { readonly organizationId: string; readonly content: TransactionContent },
): Promise<'contract' | 'unknown' | null> {
  if (content.type !== 'TOKEN_TRANSFER' || content.tokenAddress === NATIVE_CURRENCY) return null;
  const { destination } = content;
  const code = await readCode(destination);
  if (code !== 'contract' && code !== 'unknown') return null;
  return (await isAccountAddress(db, organizationId, destination)) ? null : code;
}
