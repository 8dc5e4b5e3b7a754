/** A place in the feed of an organization: an entry of its audit log. */
export interface FeedCursor {
  readonly position: bigint;
  /** Of the entry; null where the caller names the position alone. */
  readonly hash: string | null;
}

/** The `previousHash` of an organization's first entry. */
export const GENESIS_HASH = '0'.repeat(64);

/** `<position>-<hash>` of an event, several with commas, or a position alone. */
export const CURSORS = /^(0|[1-9]\d{0,17})(-[0-9a-f]{64}(,(0|[1-9]\d{0,17})-[0-9a-f]{64}){0,39})?$/;

/** Writes a cursor: `<position>-<hash>`. */
export function cursorText({ position, hash }: FeedCursor): string {
  return hash === null ? String(position) : `${position}-${hash}`;
}

/** Reads the cursors of a text that fits CURSORS: where to go on, and what else its caller has. */
export function readCursors(text: string): [FeedCursor, ...FeedCursor[]] {
  const [first, ...others] = text.split(',').map((one): FeedCursor => {
    const [position = '0', hash = null] = one.split('-');
    return { position: BigInt(position), hash };
  });
  return [first ?? { position: 0n, hash: null }, ...others];
}
