import { createHmac, timingSafeEqual } from 'node:crypto';
import { canonicalJson } from '../domain/canonicalJson';

/** The filters of a list, as the caller sent them. */
export type Filters = { readonly [name: string]: string };

/** What a cursor belongs to. */
export interface CursorScope {
  readonly organizationId: string;
  /** Name of the list: a cursor of another list is refused. */
  readonly list: string;
}

/** Writes and reads cursors. */
export interface Cursors {
  write(scope: CursorScope, filters: Filters, position: bigint): string;
  /** The position after which the next page begins and the filters, or undefined for an invalid cursor. */
  read(scope: CursorScope, cursor: string): { position: bigint; filters: Filters } | undefined;
}

const MAC_BYTES = 16;

/** Cursors that are signed with a secret of the installation and bound to an organization and a list. */
export function createCursors(secret: Buffer): Cursors {
  const macOf = (scope: CursorScope, payload: Buffer) =>
    createHmac('sha256', secret)
      .update(canonicalJson([scope.organizationId, scope.list]))
      .update('\0')
      .update(payload)
      .digest()
      .subarray(0, MAC_BYTES);
  return {
    write(scope, filters, position) {
      const payload = Buffer.from(canonicalJson([position.toString(), filters]));
      return Buffer.concat([macOf(scope, payload), payload]).toString('base64url');
    },
    read(scope, cursor) {
      const bytes = Buffer.from(cursor, 'base64url');
      // One cursor has one text: base64url decoders skip what they do not know.
      if (bytes.length <= MAC_BYTES || bytes.toString('base64url') !== cursor) return undefined;
      const payload = bytes.subarray(MAC_BYTES);
      if (!timingSafeEqual(bytes.subarray(0, MAC_BYTES), macOf(scope, payload))) return undefined;
      const [position, filters] = JSON.parse(payload.toString()) as [string, Filters];
      return { position: BigInt(position), filters };
    },
  };
}
