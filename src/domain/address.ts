/** The form of an address; a checksum is not part of it. */
export const ADDRESS_PATTERN = /^0x[a-fA-F0-9]{40}$/;

/** True when both texts are the same address; the case of their digits does not matter. */
export function isSameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
