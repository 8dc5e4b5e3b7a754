export const INVALID_ADDRESS =
  'Invalid address (expected 0x and 40 hex digits; with mixed case, a valid checksum)';

/** The ends of an address, which people compare. */
export const shortAddress = (address: string) => `${address.slice(0, 6)}…${address.slice(-4)}`;

/** Whether a text is an address, whatever the case of its digits. */
export const isAddressText = (text: string): boolean => /^0x[0-9a-f]{40}$/i.test(text);

/** Whether two addresses are the same, whatever their case. */
export function isSameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
