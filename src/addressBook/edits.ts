import type { AddressBookContent, NamedByAdmins } from '../db/addressBook';
import { isSameAddress } from '../domain/address';
import { foldName } from '../domain/names';
import { quoted } from '../domain/quoted';
import { refuse } from '../domain/refusal';

/** The most entries of an organization: pages load them all. */
export const MAX_ENTRIES = 2_000;

/** A name for an address, as somebody gives it. */
export interface NamedAddress {
  readonly name: string;
  /** Checksummed. */
  readonly address: string;
  /** null: on every network. */
  readonly networkId: number | null;
}

/** One entry of a change: undefined before it is created, or after it is removed. */
export interface Edit {
  readonly id: string;
  readonly before?: AddressBookContent;
  readonly after?: AddressBookContent;
  /** Where the request has it, such as `csv[line 3]`; absent: the body. */
  readonly at?: string;
}

const fieldOf = ({ at }: Edit, field: string) => (at === undefined ? field : `${at}.${field}`);

/** An address on a network, or on all: one name stands there. */
export const placeOf = ({ address, networkId }: NamedAddress) =>
  `${address.toLowerCase()}/${networkId ?? ''}`;

const holderText = ({ id }: AddressBookContent, edits: ReadonlyMap<string, Edit>) => {
  const at = edits.get(id)?.at;
  return at === undefined ? `address book entry ${id}` : at;
};

/**
 * Refuses a name or an address that another entry has, or the name that the admins have given to another address.
 *
 * @param holders the entries that have a name or an address of the edits
 */
export function refuseTaken(
  edits: readonly Edit[],
  holders: readonly AddressBookContent[],
  named: readonly NamedByAdmins[],
): ReturnType<typeof refuse> | undefined {
  const byId = new Map(edits.map((edit) => [edit.id, edit]));
  const names = new Map<string, AddressBookContent>();
  const places = new Map<string, AddressBookContent>();
  const kept = holders.filter(({ id }) => !byId.has(id));
  for (const one of kept) {
    names.set(one.foldedName, one);
    places.set(placeOf(one), one);
  }
  const owners = new Map(named.map((one) => [foldName(one.name), one]));
  for (const edit of edits) {
    const { after } = edit;
    if (!after) continue;
    const [holder, there] = [names.get(after.foldedName), places.get(placeOf(after))];
    const owner = owners.get(after.foldedName);
    const name = quoted(after.name);
    if (there) {
      const where = after.networkId === null ? '' : ` on network ${after.networkId}`;
      const message = `${after.address}${where} has the name ${quoted(there.name)}: ${holderText(there, byId)}`;
      return refuse('conflict', message, fieldOf(edit, 'address'));
    }
    if (holder) {
      return refuse('conflict', `${name} is the name of ${holderText(holder, byId)}`, fieldOf(edit, 'name'));
    }
    if (owner && !isSameAddress(owner.address, after.address)) {
      const message = `${name} is the name of ${owner.type} ${owner.id}, which has another address`;
      return refuse('conflict', message, fieldOf(edit, 'name'));
    }
    names.set(after.foldedName, after);
    places.set(placeOf(after), after);
  }
  return undefined;
}

/** Refuses more entries than an organization may have; `count`: those that it has. */
export function refuseExcess(edits: readonly Edit[], count: number): ReturnType<typeof refuse> | undefined {
  const beyond = edits.filter(({ before, after }) => after && !before)[MAX_ENTRIES - count];
  if (!beyond) return undefined;
  const message = `the organization has ${count} names in its address book (maximum ${MAX_ENTRIES})`;
  return refuse('conflict', message, fieldOf(beyond, 'name'));
}
