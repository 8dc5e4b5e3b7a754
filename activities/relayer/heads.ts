import { setTimeout as sleep } from 'node:timers/promises';
import { ask, type ChainClient } from '../../src/chain/clients';
import { SharedReads } from '../../src/chain/sharedReads';
import { withSpan } from '../../src/tracing';

/** A wait for the next block of a network. */
export interface HeadWait {
  /** The block that is known already; undefined: it waits out its time. */
  readonly than: bigint | undefined;
  /** How often the network is asked, in milliseconds; it is asked as often as the most impatient wants. */
  readonly everyMs: number;
  readonly atMostMs: number;
  readonly signal: AbortSignal;
}

/** The newest block of each network, read once for everybody who follows something there. */
export interface Heads {
  /**
   * The number of the newest block, as read a moment ago, and not before `since` (of `performance.now()`). Throws
   * ChainUnavailable.
   */
  read(chain: ChainClient, since?: number): Promise<bigint>;
  /** Waits for another newest block. */
  changed(chain: ChainClient, wait: HeadWait): Promise<void>;
}

interface Waiter extends HeadWait {
  readonly wake: () => void;
}

/** One network: its newest block, and who waits for the next one. */
class NetworkHead {
  private readonly heads: SharedReads<bigint>;
  private readAt = Number.NEGATIVE_INFINITY;
  private newest: bigint | undefined;
  private readonly waiting = new Set<Waiter>();
  private isPolling = false;

  constructor(
    private readonly chain: ChainClient,
    private readonly freshMs: number,
  ) {
    this.heads = new SharedReads(freshMs);
  }

  read(since?: number): Promise<bigint> {
    return this.heads.read('head', () => this.readNewest(), since);
  }

  private async readNewest(): Promise<bigint> {
    this.readAt = performance.now();
    const head = await ask(this.chain, (rpc) => rpc.getBlockNumber());
    this.newest = head;
    for (const { than, wake } of this.waiting) if (than !== undefined && than !== head) wake();
    return head;
  }

  async changed(wait: HeadWait): Promise<void> {
    // Read by somebody else meanwhile.
    if (wait.than !== undefined && this.newest !== wait.than) return;
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
    changed: (chain, wait) => of(chain).changed(wait),
  };
}
