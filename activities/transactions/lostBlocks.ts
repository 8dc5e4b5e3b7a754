import type { Hex } from 'viem';
import { ask, type ChainClient } from '../../src/chain/clients';
import type { Attempt } from '../../src/db/attempts';
import { type Db, databaseNow, IDLE_TRANSACTION_LIMIT_MS } from '../../src/db/database';
import { type DecidedRange, decidedAttempts } from '../../src/db/followedAttempts';

/** A block by number and hash. */
interface BlockRef {
  readonly number: bigint;
  readonly hash: Hex;
}

/** After this many recorded blocks that are on the chain, older ones are assumed to be on it. */
const BLOCKS_ENOUGH = 64;
const PAGE_SIZE = 200;

/** Reads the hash of the block at a height, null where there is none; each is read once. */
function createHashReader(chain: ChainClient): (blockNumber: bigint) => Promise<Hex | null> {
  const hashes = new Map<bigint, Promise<Hex | null>>();
  return (blockNumber) => {
    const hash =
      hashes.get(blockNumber) ??
      ask(chain, async (rpc) => {
        try {
          return (await rpc.getBlock({ blockNumber })).hash;
        } catch (error) {
          if ((error as Error).name === 'BlockNotFoundError') return null;
          throw error;
        }
      });
    hashes.set(blockNumber, hash);
    return hash;
  };
}

/** A search for lost blocks that found none. */
export interface Search {
  /** The newest block then. */
  readonly head: BlockRef;
  /** By the database's clock. */
  readonly startedAt: Date;
}

/** The decided attempts of a range, highest block first, in pages. */
async function* pagesOf(db: Db, range: DecidedRange): AsyncGenerator<readonly Attempt[]> {
  let below: Attempt | undefined;
  for (;;) {
    const page: Attempt[] = await decidedAttempts(db, {
      ...range,
      limit: PAGE_SIZE,
      ...(below === undefined ? {} : { below }),
    });
    yield page;
    if (page.length < PAGE_SIZE) return;
    below = page.at(-1);
  }
}

/** Decided attempts with another block in the place of theirs, and those whose block the node does not have, by id. */
interface NotPresent {
  readonly replaced: Map<bigint, Attempt>;
  readonly missing: Map<bigint, Attempt>;
}

/** Compares attempts with the chain, until enough of their blocks are on it, and adds those that are not. */
async function addNotPresent(
  found: NotPresent,
  pages: AsyncIterable<readonly Attempt[]>,
  hashAt: (blockNumber: bigint) => Promise<Hex | null>,
  enough: number,
): Promise<void> {
  const present = new Set<bigint>();
  for await (const page of pages) {
    for (const attempt of page) {
      const { id, blockNumber, blockHash } = attempt;
      if (blockNumber === null) continue;
      const hash = await hashAt(blockNumber);
      if (hash === blockHash) present.add(blockNumber);
      else found[hash === null ? 'missing' : 'replaced'].set(id, attempt);
    }
    if (present.size >= enough) return;
  }
}

/**
 * The decided attempts of a network with another block in the place of theirs, and those after them, lowest nonce first. A
 * node that only lacks a block has not lost it: it may lag behind. `lastSearches` has per network the last search that found
 * none: while its head is on the chain, what had been recorded of blocks up to it is on it too. What was recorded since is
 * compared wherever its block is: it may have been read long before. Throws ChainUnavailable.
 */
export async function findLostAttempts(
  db: Db,
  chain: ChainClient,
  lastSearches: Map<number, Search>,
): Promise<Attempt[]> {
  const networkId = chain.network.id;
  const startedAt = await databaseNow(db);
  const hashAt = createHashReader(chain);
  const { number, hash } = await ask(chain, (rpc) => rpc.getBlock({ blockTag: 'latest' }));
  const last = lastSearches.get(networkId);
  const isOnChain = last !== undefined && (await hashAt(last.head.number)) === last.head.hash;
  const found: NotPresent = { replaced: new Map(), missing: new Map() };
  const above = isOnChain ? { above: last.head.number } : {};
  await addNotPresent(found, pagesOf(db, { networkId, ...above }), hashAt, BLOCKS_ENOUGH);
  if (last) {
    // `decided_at` is when a database transaction began, and is seen when it commits: after a few short statements. This
    // leaves room for one that stalls.
    const since = new Date(last.startedAt.getTime() - IDLE_TRANSACTION_LIMIT_MS);
    const upTo = isOnChain ? { upTo: last.head.number } : {};
    await addNotPresent(found, pagesOf(db, { networkId, since, ...upTo }), hashAt, Number.POSITIVE_INFINITY);
  }
  const { replaced, missing } = found;
  if (replaced.size + missing.size === 0) {
    lastSearches.set(networkId, { head: { number, hash }, startedAt });
    return [];
  }
  // What followed a block that was replaced is lost too.
  const lost = replaced.size > 0 ? [...replaced.values(), ...missing.values()] : [];
  return lost.sort((one, two) => Number(one.safeNonce - two.safeNonce));
}
