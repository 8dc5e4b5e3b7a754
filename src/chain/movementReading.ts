import type { Hex } from 'viem';
import { chunksOf } from '../domain/chunks';
import { type BlockRef, createIdentify } from '../domain/movement';
import {
  type BlockRange,
  changesOf,
  type MovementChanges,
  onChain,
  type StoredMovement,
  unseenTransactions,
} from '../domain/movementReading';
import { createPause, mapWithPauses } from '../pause';
import {
  accountsByAddress,
  type BlockLog,
  type LogFilter,
  movementFilters,
  movementsIn,
  type ScannedAccount,
} from './movementLogs';

/** A block as a reading needs it. */
export interface BlockHeader extends BlockRef {
  readonly time: Date;
}

/** What a reading asks a network. Each throws ChainUnavailable. */
export interface MovementSource {
  logs(filter: LogFilter, range: BlockRange): Promise<readonly BlockLog[]>;
  /** The block at a height, or undefined. */
  block(number: bigint): Promise<BlockHeader | undefined>;
  /** The logs of a transaction, or null while the node has it in no block. */
  receipt(transactionHash: Hex): Promise<readonly BlockLog[] | null>;
}

/** What is read, and with what it is compared. */
interface RangeToRead {
  readonly accounts: readonly ScannedAccount[];
  readonly range: BlockRange;
  /** The newest block with all confirmations. */
  readonly confirmedTo: bigint;
  /** How many accounts one request names. */
  readonly accountsAtOnce: number;
  /** The id of a movement with some content. */
  readonly idOf: (content: string) => string;
  /** Those in the range, and those with one of these ids. */
  readonly stored: (range: BlockRange, ids: readonly string[]) => Promise<readonly StoredMovement[]>;
}

/** The outcome of a reading. */
export interface ReadRange extends MovementChanges {
  /** The time of each block that a movement of it is in. */
  readonly timeOf: (blockNumber: bigint) => Date;
}

async function readLogs(source: MovementSource, read: RangeToRead): Promise<BlockLog[]> {
  const answers: (readonly BlockLog[])[] = [];
  for (const chunk of chunksOf(read.accounts, read.accountsAtOnce)) {
    const filters = movementFilters(chunk.map(({ address }) => address));
    // In the same turn of the event loop: they share a request where the endpoint takes batches.
    answers.push(...(await Promise.all(filters.map((filter) => source.logs(filter, read.range)))));
  }
  const { from, to } = read.range;
  return answers.flat().filter(({ blockNumber }) => blockNumber >= from && blockNumber <= to);
}

/**
 * Reads a range of blocks, and compares it with what is stored. What an answer lacks of what is stored is looked up in the
 * receipt of its transaction. Throws ChainUnavailable.
 */
export async function readRange(source: MovementSource, read: RangeToRead): Promise<ReadRange> {
  const { range, confirmedTo } = read;
  const pause = createPause();
  const accounts = accountsByAddress(read.accounts);
  const blocks = new Map<bigint, BlockHeader | undefined>();
  const hashAt = (number: bigint) => blocks.get(number)?.hash;
  const readBlocks = async (of: readonly { readonly block: BlockRef }[]) => {
    for (const number of new Set(of.map(({ block }) => block.number))) {
      if (!blocks.has(number)) blocks.set(number, await source.block(number));
    }
  };

  /** Another branch may have the same transaction: only what is on this one is counted. */
  const movementsOf = async (logs: readonly BlockLog[]) => {
    const found = await movementsIn(accounts, logs, pause);
    await readBlocks(found);
    return mapWithPauses(onChain(found, hashAt), pause, createIdentify(read.idOf));
  };

  const logs = await readLogs(source, read);
  let found = await movementsOf(logs);
  const stored = await read.stored(
    range,
    found.map(({ id }) => id),
  );
  await readBlocks(stored);
  const receipts = new Map<string, readonly BlockLog[]>();
  for (const hash of await unseenTransactions({ found, stored, hashAt, range }, pause)) {
    const receipt = await source.receipt(hash as Hex);
    if (receipt) receipts.set(hash, receipt);
  }
  if (receipts.size > 0) {
    // Instead of what the answer had of them: two answers may number the same logs differently.
    const others = logs.filter(({ transactionHash }) => !receipts.has(transactionHash));
    found = await movementsOf([...others, ...[...receipts.values()].flat()]);
  }
  const seen = new Set(receipts.keys());
  const changes = await changesOf({ found, stored, hashAt, range, confirmedTo, receipts: seen }, pause);
  return { ...changes, timeOf: (number) => blocks.get(number)?.time ?? new Date(0) };
}
