export const INVALID_ADDRESS =
  'Invalid address (expected 0x and 40 hex digits; with mixed case, a valid checksum)';

/** The ends of an address, which people compare. */
export const shortAddress = (address: string) => `${address.slice(0, 6)}…${address.slice(-4)}`;

/** Whether two addresses are the same, whatever their case. */
export function isSameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
