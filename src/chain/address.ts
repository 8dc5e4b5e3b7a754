import { type Address, getAddress, isAddress } from 'viem';

export type { Address };

/** The checksummed form of an address. Source: EIP-55. Throws when it is no address. */
export function checksumAddress(address: string): Address {
  return getAddress(address.toLowerCase());
}

/** True for an address all in lower case, all in upper case, or with a right checksum (EIP-55). */
export function isWellFormedAddress(text: string): boolean {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return false;
  const digits = text.slice(2);
  return (
    digits === digits.toLowerCase() || digits === digits.toUpperCase() || isAddress(text, { strict: true })
  );
}
