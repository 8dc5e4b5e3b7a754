import type { ChainClients } from './chain/clients';
import { type RelayerBalance, readRelayerBalances } from './chain/relayerFunds';
import { listRelayers } from './db/chain';
import type { Db } from './db/database';
import type { Logger } from './logging';

const LOOK_EVERY_MS = 60_000;
/** How often the log says again that a relayer is low. */
const TELL_EVERY_MS = 10 * 60_000;

/** Keeps the metric of the relayers' coin right and tells in the log when one runs low. Returns what ends it. */
export function watchRelayers(
  deps: {
    readonly db: Db;
    readonly chains: ChainClients;
    readonly logger: Logger;
    readonly setBalance: (relayer: { networkId: number; address: string; wei: bigint }) => void;
  },
  everyMs = LOOK_EVERY_MS,
): () => Promise<void> {
  const toldAt = new Map<string, number>();

  function tell({ network, address, wei, funds }: RelayerBalance): void {
    const key = `${network.id}/${address}/${funds}`;
    if (funds === 'enough' || Date.now() - (toldAt.get(key) ?? 0) < TELL_EVERY_MS) return;
    toldAt.set(key, Date.now());
    deps.logger.warn(
      { networkId: network.id, relayer: address, wei: String(wei), funds },
      `the relayer of ${network.name} has ${funds === 'empty' ? 'too little coin for one deployment' : 'little coin left'}: send some to ${address}`,
    );
  }

  async function look(): Promise<void> {
    try {
      for (const relayer of await readRelayerBalances(deps.chains, await listRelayers(deps.db))) {
        const { network, address, wei } = relayer;
        deps.setBalance({ networkId: network.id, address, wei });
        tell(relayer);
      }
    } catch (error) {
      deps.logger.debug({ err: error }, 'what the relayers have cannot be read now');
    }
  }

  let looking = look();
  const timer = setInterval(() => {
    looking = look();
  }, everyMs);
  return async () => {
    clearInterval(timer);
    await looking;
  };
}
