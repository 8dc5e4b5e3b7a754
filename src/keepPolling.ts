import type { NetworkConfig } from './config';

/**
 * Polls each network now and every `everyMs`, unless its last poll still runs. `poll` never rejects. Returns the function
 * that stops it, and waits for polls that run.
 */
export function keepPolling(
  networks: readonly NetworkConfig[],
  everyMs: number,
  poll: (network: NetworkConfig) => Promise<void>,
): () => Promise<void> {
  const stops = networks.map((network) => {
    let polling: Promise<void> | undefined;
    const pollOnce = () => {
      polling ??= poll(network).finally(() => {
        polling = undefined;
      });
    };
    pollOnce();
    const timer = setInterval(pollOnce, everyMs);
    return async () => {
      clearInterval(timer);
      await polling;
    };
  });
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}
