import { checksumAddress } from '../chain/address';
import { nonzeroAddressInput } from '../contract/primitives';
import { type Wallet, walletWarning } from '../domain/wallet';
import type { Outside, Plan } from './kind';

/** The wallet of a member in a request, read with its checksum (EIP-55). */
export const walletInput = nonzeroAddressInput.transform(checksumAddress);

/** The claim on the new wallet of a member. */
export function walletSubject(walletAddress: string): string {
  return `wallet:${walletAddress.toLowerCase()}`;
}

/** What the chain says against the stated kinds of wallets, each once. */
export async function walletWarnings(
  { readWalletCode }: Pick<Outside, 'readWalletCode'>,
  wallets: readonly Wallet[],
): Promise<NonNullable<Plan<unknown>['notes']>> {
  const warnings = await Promise.all(
    wallets.map(async (wallet) => walletWarning(wallet, await readWalletCode(wallet.walletAddress))),
  );
  return warnings.filter((warning) => warning !== undefined);
}
