import { type Address, type Hex, hexToBigInt, hexToNumber, isAddress, isHex, numberToHex } from 'viem';
import { ask, type ChainClient, ChainUnavailable, receiptOf } from './clients';
import type { BlockLog, LogFilter } from './movementLogs';
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
  const time = new Date(hexToNumber(timestamp) * 1_000);
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

/** What a network says of logs, blocks and receipts, for readings of movements. */
export function movementSource(chain: ChainClient): MovementSource {
  return {
    async logs({ address, topics }, { from, to }) {
      const filter = { topics, fromBlock: numberToHex(from), toBlock: numberToHex(to) };
      const params = [address === undefined ? filter : { ...filter, address }];
      const answer = await ask(chain, (rpc) =>
        rpc.request({
          method: 'eth_getLogs',
          params: params as unknown as [LogFilter & typeof filter],
        } as never),
      );
      return logsOf(chain, answer);
    },
    async block(number) {
      const answer = await ask(chain, (rpc) =>
        rpc.request({ method: 'eth_getBlockByNumber', params: [numberToHex(number), false] }),
      );
      return answer === null ? undefined : headerOf(chain, answer);
    },
    async receipt(transactionHash) {
      const receipt = await receiptOf(chain, transactionHash);
      return receipt?.logs.map((log) => ({ ...log, topics: [...log.topics] })) ?? null;
    },
  };
}

/** How many headers are remembered. */
const REMEMBERED = 1_024;

/**
 * A source that asks for each block once, while the chain only grows. `advance` reports its newest block: where that does not
 * follow upon the one before, nothing is remembered any more.
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
