import { checksumAddress } from '../chain/address';
import { nonzeroAddressInput } from '../contract/primitives';

/** The wallet of a member in a request, read with its checksum (EIP-55). */
export const walletInput = nonzeroAddressInput.transform(checksumAddress);

/** The claim on the new wallet of a member. */
export function walletSubject(walletAddress: string): string {
  return `wallet:${walletAddress.toLowerCase()}`;
}
