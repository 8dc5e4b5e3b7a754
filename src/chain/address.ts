import { type Address, getAddress, isAddress } from 'viem';

/** The address as EIP-55 writes it. Throws when the text is no address, whatever its case. */
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

/** True for the address that nobody holds. */
export function isZeroAddress(text: string): boolean {
  return /^0x0{40}$/.test(text);
}

/** True when both texts name one address. */
export function sameAddress(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
