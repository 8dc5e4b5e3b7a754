import type { Logger } from './logging';

/** Failures of something that is tried again and again. */
interface LastingFailure {
  failed(error: unknown): void;
  succeeded(): void;
}

/** A database or a network may be unavailable for so long without anything being wrong. */
const LASTS_MS = 60_000;

/**
 * Logs each failure of `what` at debug, and one that lasts for `lastsMs` as an error, once; then that it is resolved. `fields`
 * are in each line.
 */
export function createLastingFailure(
  logger: Logger,
  what: string,
  { fields = {}, lastsMs = LASTS_MS }: { readonly fields?: object; readonly lastsMs?: number } = {},
): LastingFailure {
  let since: number | undefined;
  let isReported = false;
  return {
    failed(error) {
      since ??= performance.now();
      const isLasting = !isReported && performance.now() - since >= lastsMs;
      isReported ||= isLasting;
      const line = { err: error, ...fields };
      if (isLasting) logger.error(line, `${what} for ${Math.round(lastsMs / 1_000)} s; retrying`);
      else logger.debug(line, `${what}; retrying`);
    },
    succeeded() {
      if (isReported) logger.info(fields, `resolved: ${what}`);
      since = undefined;
      isReported = false;
    },
  };
}

/** The failures of what is done on each network, by its id. */
export function failuresOfNetworks(
  logger: Logger,
  networks: readonly { readonly id: number }[],
  what: string,
): (networkId: number) => LastingFailure {
  const failures = new Map(
    networks.map(({ id }) => [id, createLastingFailure(logger, what, { fields: { networkId: id } })]),
  );
  return (networkId) => failures.get(networkId) ?? createLastingFailure(logger, what);
}
