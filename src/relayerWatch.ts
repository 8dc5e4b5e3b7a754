import type { ChainClients } from './chain/clients';
import { nativeAmount } from './chain/nativeAmount';
import { type RelayerBalance, readRelayerBalances } from './chain/relayerFunds';
import type { Db } from './db/database';
import { listRelayersInUse } from './db/relayers';
import type { Logger } from './logging';
import type { Metrics } from './metrics';

const POLL_EVERY_MS = 60_000;
/** How often the log repeats that a relayer is low. */
const WARN_EVERY_MS = 10 * 60_000;

/** Polls the relayers' balances: keeps their metric up to date and warns in the log when one is low. Returns the function that stops it. */
export function watchRelayers(
  deps: {
    readonly db: Db;
    readonly chains: ChainClients;
    readonly logger: Logger;
    readonly metrics: Pick<Metrics, 'setRelayerBalance' | 'removeRelayerBalance'>;
  },
  everyMs = POLL_EVERY_MS,
): () => Promise<void> {
  const warnedAt = new Map<string, number>();
  /** Whose balance the metric has, by network and address. */
  const shown = new Map<string, { networkId: number; address: string }>();

  function warnWhenLow({ network, address, wei, funds }: RelayerBalance): void {
    const key = `${network.id}/${address}/${funds}`;
    if (
      funds === 'enough' ||
      performance.now() - (warnedAt.get(key) ?? Number.NEGATIVE_INFINITY) < WARN_EVERY_MS
    )
      return;
    warnedAt.set(key, performance.now());
    deps.logger.warn(
      { networkId: network.id, relayer: address, wei: String(wei), funds },
      `a relayer of ${network.name} ${funds === 'empty' ? 'has insufficient funds for one deployment' : 'is low on funds'}: ${address} has ${nativeAmount(network, wei)}, fund it`,
    );
  }

  /** The last balance of one that pays no more would be an alarm for ever. */
  function removeOthers(inUse: readonly { networkId: number; address: string }[]): void {
    const used = new Set(inUse.map(({ networkId, address }) => `${networkId}/${address}`));
    for (const [key, relayer] of shown) {
      if (used.has(key)) continue;
      deps.metrics.removeRelayerBalance(relayer);
      shown.delete(key);
    }
  }

  async function poll(): Promise<void> {
    try {
      const networks = [...deps.chains.values()].map(({ network }) => network);
      const relayers = await listRelayersInUse(deps.db, networks);
      removeOthers(relayers);
      for (const relayer of await readRelayerBalances(deps.chains, relayers)) {
        const { network, address, wei, deployments } = relayer;
        deps.metrics.setRelayerBalance({ networkId: network.id, address, wei, deployments });
        shown.set(`${network.id}/${address}`, { networkId: network.id, address });
        warnWhenLow(relayer);
      }
    } catch (error) {
      deps.logger.debug({ err: error }, 'the balances of the relayers cannot be read');
    }
  }

  let polling = poll();
  const timer = setInterval(() => {
    polling = poll();
  }, everyMs);
  return async () => {
    clearInterval(timer);
    await polling;
  };
}
