import type { BlockRef, IdentifiedMovement, MovementStatus } from './movement';

/** A movement as it was stored by an earlier reading. */
export interface StoredMovement {
  readonly id: string;
  readonly transactionHash: string;
  readonly status: MovementStatus;
  readonly block: BlockRef;
}

/** The hash of the block at a height; undefined where the node has none. */
type HashAt = (blockNumber: bigint) => string | undefined;

/** What a reading of a range of blocks has found, beside what is stored of it. */
interface MovementReading {
  /** What logs show, of blocks that are on the chain. */
  readonly found: readonly IdentifiedMovement[];
  /** Those in the range, and those with an id of `found`, wherever they are. */
  readonly stored: readonly StoredMovement[];
  /** Of every block that one of them is in. */
  readonly hashAt: HashAt;
  readonly range: BlockRange;
  /** The newest block with all confirmations. */
  readonly confirmedTo: bigint;
  /** The transactions whose receipts are among `found`: what those lack was never logged. */
  readonly receipts: ReadonlySet<string>;
}

/** Blocks from the first to the last, both included. */
export interface BlockRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** A movement in the state that a reading has found it in. */
type ReadMovement = IdentifiedMovement & { readonly status: 'pending' | 'confirmed' };

/** What changes by a reading. */
export interface MovementChanges {
  readonly added: readonly ReadMovement[];
  /** Stored ones that are in another block, or in another state: confirmed, or found again. */
  readonly changed: readonly ReadMovement[];
  /** Stored ones whose block is no longer on the chain. */
  readonly reversed: readonly StoredMovement[];
}

const isIn = ({ number }: BlockRef, { from, to }: BlockRange) => number >= from && number <= to;

const isOnChain = ({ number, hash }: BlockRef, hashAt: HashAt) => hashAt(number) === hash;

/** Those in a block that is on the chain. A node may answer with logs of another branch. */
export function onChain<T extends { readonly block: BlockRef }>(
  movements: readonly T[],
  hashAt: HashAt,
): T[] {
  return movements.filter(({ block }) => isOnChain(block, hashAt));
}

/** Called between items of a list, which may be as long as somebody likes. */
type Pause = () => Promise<void>;

/** Movements by their id. */
async function byId<T extends { readonly id: string }>(movements: readonly T[], pause: Pause) {
  const known = new Map<string, T>();
  for (const one of movements) {
    known.set(one.id, one);
    await pause();
  }
  return known;
}

/**
 * The transactions of stored movements that a reading should have found and has not, though their block is on the chain:
 * the answer was not whole. Their receipts say what was logged.
 */
export async function unseenTransactions(
  { found, stored, hashAt, range }: Omit<MovementReading, 'confirmedTo' | 'receipts'>,
  pause: Pause,
): Promise<string[]> {
  const seen = await byId(found, pause);
  const unseen = new Set<string>();
  for (const { id, status, block, transactionHash } of stored) {
    const isExpected = status !== 'reversed' && isIn(block, range) && isOnChain(block, hashAt);
    if (isExpected && !seen.has(id)) unseen.add(transactionHash);
    await pause();
  }
  return [...unseen];
}

/** Whether a stored movement is as it was read. */
function isKept(before: StoredMovement, { status, block }: ReadMovement): boolean {
  // A chain that is shorter than before has fewer confirmations: what is confirmed stays so in its block.
  return before.block.hash === block.hash && (before.status === status || before.status === 'confirmed');
}

/**
 * What a reading changes of what is stored. A movement is reversed only where another block is at its height, or where the
 * receipt of its transaction does not have it: never because an answer lacks it.
 */
export async function changesOf(reading: MovementReading, pause: Pause): Promise<MovementChanges> {
  const { found, stored, hashAt, range, confirmedTo, receipts } = reading;
  const known = await byId(stored, pause);
  const read = new Map<string, ReadMovement>();
  for (const movement of found) {
    const status = movement.block.number <= confirmedTo ? 'confirmed' : 'pending';
    read.set(movement.id, { ...movement, status });
    await pause();
  }
  const isLost = ({ id, status, block, transactionHash }: StoredMovement) => {
    if (status === 'reversed' || read.has(id) || !isIn(block, range)) return false;
    const hash = hashAt(block.number);
    if (hash === undefined) return false;
    return hash !== block.hash || receipts.has(transactionHash);
  };
  const [added, changed, reversed]: [ReadMovement[], ReadMovement[], StoredMovement[]] = [[], [], []];
  for (const one of read.values()) {
    const before = known.get(one.id);
    if (!before) added.push(one);
    else if (!isKept(before, one)) changed.push(one);
    await pause();
  }
  for (const one of stored) {
    if (isLost(one)) reversed.push(one);
    await pause();
  }
  return { added, changed, reversed };
}
