import type { Wallet } from './wallet';

/** What is at the address of a wallet; `unknown` while its network does not answer. */
export type WalletCode = 'none' | 'contract' | 'delegated' | 'unknown';

/** What a look at the chain says against the stated kind of a wallet. It decides nothing. */
export function walletWarning(
  { walletAddress, walletKind }: Wallet,
  found: WalletCode,
): { readonly code: string; readonly message: string } | undefined {
  if (walletKind === 'key' && found === 'contract') {
    return {
      code: 'walletHasCode',
      message: `there is a contract at ${walletAddress}: of a wallet of kind key, only signatures of its key count`,
    };
  }
  if (walletKind === 'contract' && found === 'none') {
    return {
      code: 'walletHasNoCode',
      message: `there is no contract at ${walletAddress}: until there is one, its signatures need the wrapping of ERC-6492`,
    };
  }
  if (walletKind === 'contract' && found === 'delegated') {
    return {
      code: 'walletIsDelegated',
      message: `${walletAddress} is a key with delegated code (EIP-7702): whoever has the key can replace the code`,
    };
  }
  return undefined;
}
