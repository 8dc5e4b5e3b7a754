import { ApiError, type Schema } from '@orgwallet/client';
import { type Address, getAddress } from 'viem';
import { createSiweMessage } from 'viem/siwe';
import { type Choice, choicesOf, type Session, sessions } from '../../api/sessions.ts';
import { isSameAddress } from '../../domain/address.ts';
import { accountsOf, chainOf, type FoundWallet, rememberWallet, signText } from '../../signing/wallet.ts';
import { WalletError } from '../../signing/walletError.ts';

/** A signed message for a wallet of several organizations: one of them has to be chosen. */
export interface OpenChoice {
  readonly choices: readonly Choice[];
  readonly message: string;
  readonly signature: string;
}

type SignedIn = { readonly session: Session } | { readonly choice: OpenChoice };

/** The address that was tried, where it is not a member's; else undefined. */
export function strangerOf(error: unknown): string | undefined {
  const isRefused = error instanceof ApiError && error.code === 'unauthorized';
  return isRefused ? (error.details as { walletAddress?: string }).walletAddress : undefined;
}

/** The chain that the message names: one that the service has, the wallet's own where possible. */
function chainId({ networkIds }: Schema['SessionNonce'], ofWallet: number): number {
  return networkIds.length === 0 || networkIds.includes(ofWallet) ? ofWallet : (networkIds[0] ?? ofWallet);
}

/** Where one signs in: this page, or the service that `npm run dev` passes everything on to. */
const SITE = new URL((import.meta.env.DEV && import.meta.env.VITE_SERVICE) || location.origin);

/** The text that the wallet signs. Source: EIP-4361. */
function messageOf(nonce: Schema['SessionNonce'], address: Address, ofWallet: number): string {
  return createSiweMessage({
    address,
    chainId: chainId(nonce, ofWallet),
    domain: SITE.host,
    issuedAt: new Date(),
    expirationTime: new Date(nonce.expiresAt),
    nonce: nonce.nonce,
    statement: 'Sign in to orgwallet. This approves nothing and moves no money.',
    uri: SITE.origin,
    version: '1',
  });
}

/**
 * Signs in with a wallet; as `as`, to its organization and no other, if that is given. Throws WalletError, ApiError,
 * NoAnswer.
 */
export async function signIn(
  wallet: FoundWallet,
  signal: AbortSignal,
  as?: Pick<Session, 'organization' | 'member'>,
): Promise<SignedIn> {
  const only = as?.member.walletAddress;
  const accounts = await accountsOf(wallet, signal);
  const address = only ? accounts.find((one) => isSameAddress(one, only)) : accounts[0];
  if (!address) {
    const found = accounts[0] ?? 'no account';
    throw new WalletError(
      'wrongAccount',
      `${wallet.name} has selected ${found}. Select ${only ? `account ${only}` : 'an account'} in the wallet, then try again.`,
    );
  }
  const nonce = await sessions.nonce();
  const message = messageOf(nonce, getAddress(address), await chainOf(wallet, signal));
  const signature = await signText(wallet, address, message, signal);
  rememberWallet(wallet);
  try {
    const organization = as ? { organizationId: as.organization.id } : {};
    return { session: await sessions.start({ message, signature, ...organization }) };
  } catch (error) {
    const choices = choicesOf(error);
    if (!choices) throw error;
    return { choice: { choices, message, signature } };
  }
}
