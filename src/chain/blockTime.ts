import { type ChainClient, ChainUnavailable } from './clients';

/** The time of a block, from its seconds since 1970. Throws ChainUnavailable where they are too many for a time. */
export function blockTime({ network }: ChainClient, block: bigint | string, seconds: bigint): Date {
  const time = new Date(Number(seconds) * 1_000);
  if (Number.isNaN(time.getTime())) throw new ChainUnavailable(network, `block ${block} has no time`);
  return time;
}
