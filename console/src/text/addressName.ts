import { quotedName } from '../domain/quotedName.ts';
/** What addresses are called. */
export interface AddressNames {
  /** Who has an address: an account, or a member. */
  owner(address: string): string | undefined;
  /** What the address book calls it, on a network where one is given: for display only. */
  noted(address: string, networkId?: number): string | undefined;
}

/**
 * An address after its name, as the admins have decided it or as the address book has it, which is said; without one, the address
 * alone. `shown`: the address as it is written.
 */
export function namedAddress(
  address: string,
  names: AddressNames,
  { networkId, shown = address }: { readonly networkId?: number; readonly shown?: string } = {},
): string {
  const owner = names.owner(address);
  if (owner !== undefined) return `${quotedName(owner)} (${shown})`;
  const noted = names.noted(address, networkId);
  return noted === undefined ? shown : `${quotedName(noted)} (address book, ${shown})`;
}
