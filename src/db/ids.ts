import { createHash } from 'node:crypto';
import { TypeID, typeid } from 'typeid-js';

/** The kinds of record that have an id; the kind is the id's prefix. */
type IdPrefix =
  | 'org'
  | 'key'
  | 'ses'
  | 'mem'
  | 'grp'
  | 'pol'
  | 'acc'
  | 'adm'
  | 'adr'
  | 'whk'
  | 'chn'
  | 'prop'
  | 'txn'
  | 'mov'
  | 'log';

/** Makes a TypeID: the prefix and a UUIDv7 in base32, so ids sort by creation. Source: TypeID 0.3, RFC 9562. */
export function newId(prefix: IdPrefix): string {
  return typeid(prefix).toString();
}

/**
 * The id of what is the same for whoever finds it: the prefix and a UUIDv8 of the first bits of a text's SHA-256. Source: RFC
 * 9562, 5.8.
 */
export function derivedId(prefix: IdPrefix, text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return TypeID.fromUUIDBytes(prefix, bytes).toString();
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The id of a stored request, as a message names it; null for what cannot be one. A message may come from anybody who
 * reaches Temporal, with any text for its request. Source: RFC 9562.
 */
export function uuidOrNull(text: unknown): string | null {
  return typeof text === 'string' && UUID.test(text) ? text : null;
}
