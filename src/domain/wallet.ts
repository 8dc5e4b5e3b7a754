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
