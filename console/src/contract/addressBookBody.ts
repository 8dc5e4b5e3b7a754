import './jitless.ts';
import { createAddressBookEntryEndpoint } from '../../../src/contract/addressBookContract.ts';
import type { Faults } from '../domain/faults.ts';
import { faultsIn } from './faultsIn.ts';

/** What the service would refuse of an entry before it looks at the others, by its fields. */
export function faultsOfEntry(entry: { readonly [field: string]: unknown }): Faults {
  const { body } = createAddressBookEntryEndpoint;
  return body ? faultsIn(body, entry) : {};
}
