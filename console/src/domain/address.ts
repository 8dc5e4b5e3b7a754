import { isAddress } from 'viem';

export const INVALID_ADDRESS =
  'Invalid address (expected 0x and 40 hex digits; with mixed case, a valid checksum)';

/** What is wrong with a typed address; nothing is wrong while it is empty. */
export function addressError(text: string): string | undefined {
  return text.trim() === '' || isAddress(text.trim()) ? undefined : INVALID_ADDRESS;
}
