import { typeid } from 'typeid-js';

/** The kinds of record that have an id; the kind is the id's prefix. */
export type IdPrefix = 'org' | 'key' | 'mem' | 'grp' | 'pol' | 'acc' | 'adm' | 'prop' | 'txn' | 'log';

/** Makes a TypeID: the prefix and a UUIDv7 in base32, so ids sort by creation. Source: TypeID 0.3, RFC 9562. */
export function newId(prefix: IdPrefix): string {
  return typeid(prefix).toString();
}
