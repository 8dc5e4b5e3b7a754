import { SharedReads } from '../chain/sharedReads';
import type { Config } from '../config';
import type { Logger } from '../logging';
import { BrokenPriceList, type PriceList, readPriceList } from './priceList';
import { PricesUnavailable, readPricesFile, readPricesUrl } from './priceSource';

/** What is known of prices now. Values are shown only of those that are `current`, and of each only while it is not too old. */
export interface Prices {
  /** `broken`: what is there is not a list of prices; `unavailable`: nothing can be read. */
  readonly status: 'current' | 'stale' | 'broken' | 'unavailable';
  /** What to correct; null: nothing. Without addresses and paths. */
  readonly problem: string | null;
  /** Absent where none has been read. */
  readonly list?: PriceList;
}

/** Reads prices. Never throws. */
export type ReadPrices = () => Promise<Prices>;

/** A price that is older is shown no more, in milliseconds. */
export const MOST_AGE_MS = 24 * 3_600_000;

/** Whether a price of that time is too old. */
export const isStale = (at: string, nowMs: number): boolean => nowMs - Date.parse(at) > MOST_AGE_MS;

/** What of a list is left out, in one line; null: nothing. */
function leftOut({ bad, prices }: PriceList, nowMs: number): string | null {
  const stale = [...prices.values()].filter(({ at }) => isStale(at, nowMs)).length;
  const texts = [
    ...(bad.length > 0 ? [`${bad.length} bad, the first is ${bad[0]}`] : []),
    ...(stale > 0 ? [`${stale} older than 24 h`] : []),
  ];
  return texts.length === 0 ? null : `entries are left out: ${texts.join('; ')}`;
}

function pricesOf(setting: string, list: PriceList, nowMs: number): Prices {
  if (isStale(list.at, nowMs)) return { status: 'stale', problem: `${setting} is older than 24 h`, list };
  const problem = leftOut(list, nowMs);
  return { status: 'current', problem: problem === null ? null : `${setting}: ${problem}`, list };
}

/** A place that prices come from. */
interface Source {
  readonly setting: string;
  readonly read: () => Promise<string>;
  /** For how long what was read is what is there, in milliseconds. */
  readonly freshMs: number;
  /** Whether what came last counts while it is unavailable: an address fails by itself, a file is gone on purpose. */
  readonly keepsLast: boolean;
}

const sourceOf = (from: NonNullable<Config['prices']>): Source =>
  'file' in from
    ? { setting: 'PRICES_FILE', read: () => readPricesFile(from.file), freshMs: 5_000, keepsLast: false }
    : { setting: 'PRICES_URL', read: () => readPricesUrl(from.url), freshMs: 60_000, keepsLast: true };

/** Reads a source again each time. */
function createReader({ setting, read, keepsLast }: Source, now: () => number): ReadPrices {
  let last: PriceList | undefined;

  function withoutList(status: 'broken' | 'unavailable', problem: string): Prices {
    if (status === 'broken' || !keepsLast) last = undefined;
    return last ? { ...pricesOf(setting, last, now()), problem } : { status, problem };
  }

  return async () => {
    try {
      last = readPriceList(await read(), now());
      return pricesOf(setting, last, now());
    } catch (error) {
      if (error instanceof BrokenPriceList) return withoutList('broken', `${setting} ${error.message}`);
      if (error instanceof PricesUnavailable)
        return withoutList('unavailable', `${setting} ${error.message}`);
      throw error;
    }
  };
}

/**
 * Reads the prices that PRICES_FILE or PRICES_URL has; undefined without either. A file is read again after 5 s and an address asked
 * again after 60 s, when somebody asks, and once for all who do. While an address is unavailable, what came last is kept until it is
 * too old; what is broken replaces it.
 */
export function createReadPrices(
  { prices: from }: Pick<Config, 'prices'>,
  { now = Date.now, logger }: { readonly now?: () => number; readonly logger?: Logger } = {},
): ReadPrices | undefined {
  if (!from) return undefined;
  const source = sourceOf(from);
  const reads = new SharedReads<Prices>(source.freshMs);
  const read = createReader(source, now);
  let logged: string | null = null;
  return () =>
    reads.read(source.setting, async () => {
      const prices = await read();
      if (prices.problem !== logged && prices.problem !== null) logger?.warn(prices.problem);
      logged = prices.problem;
      return prices;
    });
}
