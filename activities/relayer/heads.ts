import { setTimeout as sleep } from 'node:timers/promises';
import type { Hex } from 'viem';
import { blockTime } from '../../src/chain/blockTime';
import { ask, type ChainClient } from '../../src/chain/clients';
import { SharedReads } from '../../src/chain/sharedReads';
import { setNewest } from '../../src/setNewest';
import { withSpan } from '../../src/tracing';

/** The newest block of a network. */
export interface Head {
  readonly number: bigint;
  readonly hash: Hex;
}

/** A block as executions report it. */
export interface Block extends Head {
  /** Seconds since 1970. */
  readonly timestamp: bigint;
  /** Wei per gas; null on a network without EIP-1559. */
  readonly baseFeePerGas: bigint | null;
  /** The hashes of its transactions. */
  readonly transactions: readonly Hex[];
}

/** A wait for the next block of a network. */
interface HeadWait {
  /** The block that is known already; undefined: it waits out its time. */
  readonly than: Head | undefined;
  /** How often the network is asked, in milliseconds; it is asked as often as the most impatient wants. */
  readonly everyMs: number;
  readonly atMostMs: number;
  readonly signal: AbortSignal;
}

/** The newest block of each network, read once for everybody who follows something there. */
export interface Heads {
  /** The newest block, as read a moment ago, and not before `since` (of `performance.now()`). Throws ChainUnavailable. */
  read(chain: ChainClient, since?: number): Promise<Block>;
  /** A block that was the newest one a moment ago; undefined where it is not known. */
  known(chain: ChainClient, hash: Hex): Block | undefined;
  /** Waits for another newest block. */
  changed(chain: ChainClient, wait: HeadWait): Promise<void>;
}

interface Waiter extends HeadWait {
  readonly wake: () => void;
}

/** How many blocks are kept. */
const KNOWN_BLOCKS = 64;

/** One network: its newest block, and who waits for the next one. */
class NetworkHead {
  private readonly heads: SharedReads<Block>;
  private readAt = Number.NEGATIVE_INFINITY;
  private newest: Block | undefined;
  /** The newest blocks that were read, by hash, the latest last. */
  private readonly known = new Map<Hex, Block>();
  private readonly waiting = new Set<Waiter>();
  private isPolling = false;

  constructor(
    private readonly chain: ChainClient,
    private readonly freshMs: number,
  ) {
    this.heads = new SharedReads(freshMs);
  }

  read(since?: number): Promise<Block> {
    return this.heads.read('head', () => this.readNewest(), since);
  }

  find(hash: Hex): Block | undefined {
    return this.known.get(hash);
  }

  private async readNewest(): Promise<Block> {
    this.readAt = performance.now();
    const head = await ask(this.chain, (rpc) => rpc.getBlock({ blockTag: 'latest' }));
    this.remember(head);
    for (const { than, wake } of this.waiting) if (than && than.hash !== head.hash) wake();
    return head;
  }

  private remember(head: Block): void {
    this.newest = head;
    setNewest(this.known, head.hash, head, KNOWN_BLOCKS);
  }

  async changed(wait: HeadWait): Promise<void> {
    // Read by somebody else meanwhile.
    if (wait.than && this.newest?.hash !== wait.than.hash) return;
    const over = new AbortController();
    const waiter = { ...wait, wake: () => over.abort() };
    wait.signal.addEventListener('abort', waiter.wake);
    this.waiting.add(waiter);
    // It goes on for others when the trace of this one is over.
    withSpan(undefined, () => void this.poll());
    await sleep(wait.atMostMs, undefined, { signal: over.signal }).catch(() => undefined);
    this.waiting.delete(waiter);
    wait.signal.removeEventListener('abort', waiter.wake);
  }

  /** Reads the newest block for as long as somebody waits. */
  private async poll(): Promise<void> {
    if (this.isPolling) return;
    this.isPolling = true;
    while (this.waiting.size > 0) {
      let everyMs = Number.POSITIVE_INFINITY;
      for (const waiter of this.waiting) everyMs = Math.min(everyMs, waiter.everyMs);
      if (performance.now() - this.readAt >= everyMs) await this.read().catch(() => undefined);
      await sleep(this.freshMs);
    }
    this.isPolling = false;
  }
}

/** Creates the shared reader. What was read `freshMs` milliseconds ago is not read again. */
export function createHeads(freshMs: number): Heads {
  const networks = new Map<number, NetworkHead>();
  const of = (chain: ChainClient) => {
    const known = networks.get(chain.network.id) ?? new NetworkHead(chain, freshMs);
    networks.set(chain.network.id, known);
    return known;
  };
  return {
    read: (chain, since) => of(chain).read(since),
    known: (chain, hash) => of(chain).find(hash),
    changed: (chain, wait) => of(chain).changed(wait),
  };
}

/** The time of a block: of one that was the newest a moment ago, without a request. Throws ChainUnavailable. */
export async function timeOfBlock(
  { heads }: { readonly heads: Heads },
  chain: ChainClient,
  blockHash: Hex,
): Promise<Date> {
  const block = heads.known(chain, blockHash) ?? (await ask(chain, (rpc) => rpc.getBlock({ blockHash })));
  return blockTime(chain, blockHash, block.timestamp);
}
