import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainClients } from './chain/clients';
import type { ListedToken } from './chain/tokenList';
import type { Db } from './db/database';
import { failuresOfNetworks } from './lastingFailure';
import type { Logger } from './logging';
import { proveDueAccounts } from './movements/proofs';
import { MovementScanner } from './movements/scanner';

/** How often a network at rest is asked for its newest block. */
const POLL_EVERY_MS = 2_000;
/** How often it is looked whether the past of accounts is to be read. */
const LOOK_EVERY_MS = 30_000;
/** How often a few accounts are compared with their balances. */
const PROVE_EVERY_MS = 60_000;
const LONGEST_PAUSE_MS = 30_000;

/** What reads movements on networks. */
interface Watched {
  readonly db: Db;
  readonly chains: ChainClients;
  readonly tokens: readonly ListedToken[];
  readonly logger: Logger;
  /** Has the past of accounts read on a network, unless it is being read. */
  readonly beginBackfill: (networkId: number) => Promise<void>;
}

/** The scanners of this process, by chain id. */
export function createScanners({ db, chains, tokens }: Omit<Watched, 'logger' | 'beginBackfill'>) {
  const owner = randomUUID();
  return new Map(
    [...chains].map(([id, chain]) => [id, new MovementScanner({ db, tokens, owner }, chain)] as const),
  );
}

/**
 * Reads the movements on every network, each by itself: one that is unavailable, slow or hostile delays no other. Returns the
 * function that stops it.
 */
export function watchMovements(
  { db, chains, tokens, logger, beginBackfill }: Watched,
  scanners: ReadonlyMap<number, MovementScanner>,
): () => Promise<void> {
  const networks = [...chains.values()].map(({ network }) => network);
  const failureOf = failuresOfNetworks(logger, networks, 'the movements on the network cannot be read');
  const stopping = new AbortController();
  const { signal } = stopping;

  /** Has the past read where some is left; Temporal may be unavailable, which delays nothing else. */
  async function lookBack(networkId: number, scanner: MovementScanner): Promise<void> {
    try {
      if ((await scanner.progress()).accounts > 0) await beginBackfill(networkId);
    } catch (error) {
      logger.debug({ err: error, networkId }, 'the past of accounts cannot be read yet; retrying');
    }
  }

  /** Compares accounts with their balances, and reports what no movement explains. */
  async function prove(networkId: number, skipped: Set<string>): Promise<void> {
    const chain = chains.get(networkId);
    if (!chain) return;
    try {
      for (const { fromBlock, toBlock, amount, ...of } of await proveDueAccounts(
        { db, chains, tokens },
        chain,
        skipped,
      )) {
        const change = {
          ...of,
          networkId,
          fromBlock: String(fromBlock),
          toBlock: String(toBlock),
          amount: String(amount),
        };
        logger.warn(change, 'a balance has changed, and no movement explains it');
      }
    } catch (error) {
      logger.debug({ err: error, networkId }, 'balances cannot be compared with movements yet; retrying');
    }
  }

  async function watch(networkId: number, scanner: MovementScanner): Promise<void> {
    const failure = failureOf(networkId);
    let lookedAt = Number.NEGATIVE_INFINITY;
    // The first ones once accounts had time to be read.
    let provedAt = performance.now();
    const skipped = new Set<string>();
    let pauseMs = POLL_EVERY_MS;
    const passOnce = async () => {
      const result = await scanner.pass();
      failure.succeeded();
      pauseMs = result === 'behind' ? 0 : POLL_EVERY_MS;
      if (scanner.isReading && result !== 'behind' && performance.now() - provedAt >= PROVE_EVERY_MS) {
        provedAt = performance.now();
        await prove(networkId, skipped);
      }
      if (result !== 'behind' && performance.now() - lookedAt < LOOK_EVERY_MS) return;
      lookedAt = performance.now();
      await lookBack(networkId, scanner);
    };
    while (!signal.aborted) {
      await passOnce().catch((error) => {
        failure.failed(error);
        pauseMs = Math.min(2 * Math.max(pauseMs, POLL_EVERY_MS), LONGEST_PAUSE_MS);
      });
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
    await scanner.stop().catch(() => undefined);
  }

  const watching = [...scanners].map(([networkId, scanner]) => watch(networkId, scanner));
  return async () => {
    stopping.abort();
    await Promise.all(watching);
  };
}
