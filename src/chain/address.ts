import { type Address, getAddress, isAddress } from 'viem';

/** The checksummed address (EIP-55). Throws for a text that is not an address in any case. */
export function checksumAddress(text: string): Address {
  return getAddress(text.toLowerCase());
}

/**
 * True for an address as a caller may write it: all digits in lower case, all in upper case, or with a right
 * checksum (EIP-55). The prefix is `0x`.
 */
export function isWellFormedAddress(text: string): boolean {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return false;
  const digits = text.slice(2);
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return true;
  return isAddress(text, { strict: true });
}

/** True for the zero address. */
export function isZeroAddress(text: string): boolean {
  return /^0x0{40}$/.test(text);
}
