import { type Address, type Hex, hexToBigInt, hexToNumber, isAddress, isHex, numberToHex } from 'viem';
import type { BlockRange } from '../domain/movementReading';
import { blockTime } from './blockTime';
import { ask, type ChainClient, ChainUnavailable, receiptOf } from './clients';
import { type BlockLog, isFound, type LogFilter } from './movementLogs';
import type { BlockHeader, MovementSource } from './movementReading';

/** The newest block. */
export interface Head extends BlockHeader {
  readonly parentHash: string;
}

type Answered = { readonly [field: string]: unknown };

function headerOf(chain: ChainClient, answer: unknown): Head {
  const { number, hash, parentHash, timestamp } = (answer ?? {}) as Answered;
  if (!isHex(number) || !isHex(hash) || !isHex(parentHash) || !isHex(timestamp)) {
    throw new ChainUnavailable(chain.network, 'it has answered with a malformed block');
  }
  const time = blockTime(chain, hash, hexToBigInt(timestamp));
  return { number: hexToBigInt(number), hash, parentHash, time };
}

/** Reads the newest block. Throws ChainUnavailable. */
export async function readHead(chain: ChainClient): Promise<Head> {
  const answer = await ask(chain, (rpc) =>
    rpc.request({ method: 'eth_getBlockByNumber', params: ['latest', false] }),
  );
  return headerOf(chain, answer);
}

/** A log in a block; undefined for one that is in none, or was removed. Throws ChainUnavailable for a malformed one. */
function logOf(chain: ChainClient, answer: unknown): BlockLog | undefined {
  const { address, topics, data, blockNumber, blockHash, transactionHash, logIndex, removed } = (answer ??
    {}) as Answered;
  if (removed === true || blockNumber === null || blockHash === null) return undefined;
  const isLog =
    [data, blockNumber, blockHash, transactionHash, logIndex].every((one) => isHex(one)) &&
    typeof address === 'string' &&
    isAddress(address, { strict: false }) &&
    Array.isArray(topics) &&
    topics.every((one) => isHex(one));
  if (!isLog) throw new ChainUnavailable(chain.network, 'it has answered with a malformed log');
  return {
    ...{ address: address as Address, topics: topics as Hex[], data: data as Hex },
    ...{ blockHash: blockHash as Hex, transactionHash: transactionHash as Hex },
    blockNumber: hexToBigInt(blockNumber as Hex),
    logIndex: hexToNumber(logIndex as Hex),
  };
}

function logsOf(chain: ChainClient, answer: unknown): BlockLog[] {
  if (!Array.isArray(answer)) throw new ChainUnavailable(chain.network, 'it has answered without logs');
  return answer.flatMap((one) => logOf(chain, one) ?? []);
}

async function readLogs(
  chain: ChainClient,
  { address, topics }: LogFilter,
  { from, to }: BlockRange,
): Promise<BlockLog[]> {
  const filter = { topics, fromBlock: numberToHex(from), toBlock: numberToHex(to) };
  const params = [address === undefined ? filter : { ...filter, address }];
  const answer = await ask(chain, (rpc) => rpc.request({ method: 'eth_getLogs', params } as never));
  return logsOf(chain, answer);
}

async function readReceipt(chain: ChainClient, transactionHash: Hex): Promise<BlockLog[] | null> {
  const receipt = await receiptOf(chain, transactionHash);
  return receipt?.logs.map((log) => ({ ...log, topics: [...log.topics] })) ?? null;
}

/** The logs of a block, in the receipts of its transactions: of all at once, or else one by one. */
async function logsOfBlock(chain: ChainClient, number: bigint): Promise<BlockLog[]> {
  const at = numberToHex(number);
  const receipts: unknown = await ask(chain, (rpc) =>
    rpc.request({ method: 'eth_getBlockReceipts', params: [at] } as never),
  ).catch(() => undefined);
  if (Array.isArray(receipts)) {
    return receipts.flatMap((receipt) => logsOf(chain, (receipt as Answered | null)?.logs));
  }
  const block = await ask(chain, (rpc) =>
    rpc.request({ method: 'eth_getBlockByNumber', params: [at, false] }),
  );
  const logs: BlockLog[][] = [];
  for (const hash of block?.transactions ?? []) logs.push((await readReceipt(chain, hash as Hex)) ?? []);
  return logs.flat();
}

/** Of so few blocks that are refused, each is read from its receipts: a refusal takes longer than these. */
const FEW_BLOCKS = 16n;

/** The logs that a filter finds, in smaller parts where they are refused, and at last from the receipts of each block. */
async function readLogsInParts(
  chain: ChainClient,
  filter: LogFilter,
  { from, to }: BlockRange,
): Promise<BlockLog[]> {
  try {
    return await readLogs(chain, filter, { from, to });
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    // It is these logs that are refused, where anything else is answered.
    await readHead(chain);
  }
  if (to - from < FEW_BLOCKS) {
    const logs: BlockLog[][] = [];
    for (let at = from; at <= to; at += 1n) logs.push(await logsOfBlock(chain, at));
    return logs.flat().filter((log) => isFound(filter, log));
  }
  const middle = (from + to) / 2n;
  const earlier = await readLogsInParts(chain, filter, { from, to: middle });
  return earlier.concat(await readLogsInParts(chain, filter, { from: middle + 1n, to }));
}

/** What a network says of logs, blocks and receipts, for readings of movements. */
export function movementSource(chain: ChainClient): MovementSource {
  return {
    logs: (filter, range) => readLogs(chain, filter, range),
    async block(number) {
      const answer = await ask(chain, (rpc) =>
        rpc.request({ method: 'eth_getBlockByNumber', params: [numberToHex(number), false] }),
      );
      return answer === null ? undefined : headerOf(chain, answer);
    },
    receipt: (transactionHash) => readReceipt(chain, transactionHash),
  };
}

/**
 * The same of a network that refuses logs while it answers other requests: ranges are read in smaller parts, and blocks of
 * which somebody has made more logs than any answer has room for, from their receipts.
 */
export function movementSourceInParts(chain: ChainClient): MovementSource {
  return {
    ...movementSource(chain),
    logs: (filter, range) => readLogsInParts(chain, filter, range),
  };
}

/** How many headers are remembered. */
const REMEMBERED = 1_024;

/**
 * A source that asks for each block once, while the chain only grows. `advance` reports its newest block: where that does not
 * follow the one before, nothing is remembered any more.
 */
export class RememberingSource implements MovementSource {
  private readonly headers = new Map<bigint, BlockHeader>();
  private newest: Head | undefined;
  readonly logs: MovementSource['logs'];
  readonly receipt: MovementSource['receipt'];

  constructor(private readonly source: MovementSource) {
    this.logs = (filter, range) => source.logs(filter, range);
    this.receipt = (hash) => source.receipt(hash);
  }

  advance(head: Head): void {
    const isSame = head.hash === this.newest?.hash;
    if (!isSame && head.parentHash !== this.newest?.hash) this.headers.clear();
    this.newest = head;
    this.remember(head);
  }

  async block(number: bigint): Promise<BlockHeader | undefined> {
    const known = this.headers.get(number);
    if (known) return known;
    const found = await this.source.block(number);
    if (found) this.remember(found);
    return found;
  }

  private remember(header: BlockHeader): void {
    this.headers.set(header.number, header);
    const [oldest] = this.headers.keys();
    if (this.headers.size > REMEMBERED && oldest !== undefined) this.headers.delete(oldest);
  }
}
