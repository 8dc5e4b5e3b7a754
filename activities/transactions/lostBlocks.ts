import type { Hex } from 'viem';
import { ask, type ChainClient } from '../../src/chain/clients';
import { type Attempt, decidedAttempts } from '../../src/db/attempts';
import type { Db } from '../../src/db/database';

/** A block by number and hash. */
export interface BlockRef {
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

/** The decided attempts of a network above a block, highest block first, in pages. */
async function* decidedAbove(
  db: Db,
  networkId: number,
  above: bigint | undefined,
): AsyncGenerator<readonly Attempt[]> {
  let below: Attempt | undefined;
  for (;;) {
    const page: Attempt[] = await decidedAttempts(db, {
      networkId,
      limit: PAGE_SIZE,
      ...(below === undefined ? {} : { below }),
      ...(above === undefined ? {} : { above }),
    });
    yield page;
    if (page.length < PAGE_SIZE) return;
    below = page.at(-1);
  }
}

/** Decided attempts with another block in the place of theirs, and those whose block the node does not have. */
interface NotPresent {
  readonly replaced: Attempt[];
  readonly missing: Attempt[];
}

/** Compares attempts with the chain, until enough of their blocks are on it. */
async function sortByBlock(
  pages: AsyncIterable<readonly Attempt[]>,
  hashAt: (blockNumber: bigint) => Promise<Hex | null>,
): Promise<NotPresent> {
  const found: NotPresent = { replaced: [], missing: [] };
  const present = new Set<bigint>();
  for await (const page of pages) {
    for (const attempt of page) {
      const { blockNumber, blockHash } = attempt;
      if (blockNumber === null) continue;
      const hash = await hashAt(blockNumber);
      if (hash === blockHash) present.add(blockNumber);
      else found[hash === null ? 'missing' : 'replaced'].push(attempt);
    }
    if (present.size >= BLOCKS_ENOUGH) break;
  }
  return found;
}

/**
 * The decided attempts of a network with another block in the place of theirs, and those after them, lowest nonce first. A
 * node that only lacks a block has not lost it: it may lag behind. `lastHeads` has per network the head at the last search that found none: while it is on
 * the chain, nothing below it was lost. Throws ChainUnavailable.
 */
export async function findLostAttempts(
  db: Db,
  chain: ChainClient,
  lastHeads: Map<number, BlockRef>,
): Promise<Attempt[]> {
  const networkId = chain.network.id;
  const hashAt = createHashReader(chain);
  const head = await ask(chain, (rpc) => rpc.getBlock({ blockTag: 'latest' }));
  const last = lastHeads.get(networkId);
  const above = last && (await hashAt(last.number)) === last.hash ? last.number : undefined;
  const seen = await sortByBlock(decidedAbove(db, networkId, above), hashAt);
  // What followed a block that was replaced is lost too.
  const lost = seen.replaced.length > 0 ? [...seen.replaced, ...seen.missing] : [];
  if (lost.length + seen.missing.length === 0) {
    lastHeads.set(networkId, { number: head.number, hash: head.hash });
  }
  return lost.sort((one, two) => Number(one.safeNonce - two.safeNonce));
}
