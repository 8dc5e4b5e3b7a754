import { isSameAddress } from './address';

/**
 * What verifies the signatures of a wallet: `key`, ECDSA alone, whatever code is at its address (EIP-7702 included);
 * `contract`, the contract at its address (EIP-1271), never ECDSA.
 */
export type WalletKind = 'key' | 'contract';

/** How a signature was verified. */
export type SignatureScheme = 'eoa' | 'eip1271' | 'erc6492';

/** The kind of wallet under which a signature was given. */
export function walletKindOf(scheme: SignatureScheme): WalletKind {
  return scheme === 'eoa' ? 'key' : 'contract';
}

/** The wallet of a member. */
export interface Wallet {
  readonly walletAddress: string;
  readonly walletKind: WalletKind;
}

/** True for the same address and kind. */
export function isSameWallet(one: Wallet, two: Wallet): boolean {
  return isSameAddress(one.walletAddress, two.walletAddress) && one.walletKind === two.walletKind;
}

/** A wallet as text: its address, and whether it is a contract. */
export function walletText({ walletAddress, walletKind }: Wallet): string {
  return walletKind === 'contract' ? `contract wallet ${walletAddress}` : walletAddress;
}

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
