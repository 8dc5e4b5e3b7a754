import { z } from 'zod';
import { ADDRESS_PATTERN } from '../domain/address';

/** What one whole unit of an asset is worth. */
interface Price {
  /** A decimal number above 0, in the currency of the list. */
  readonly price: string;
  /** When it was the price: ISO 8601. */
  readonly at: string;
}

/** Prices of assets in one currency. */
export interface PriceList {
  readonly currency: string;
  /** The time of the prices that have none of their own: ISO 8601. */
  readonly at: string;
  /** By the id of the asset (`assetId`). */
  readonly prices: ReadonlyMap<string, Price>;
  /** Why entries are left out, with the position of each. */
  readonly bad: readonly string[];
}

/** A text that is not a list of prices. The message says why, without the text. */
export class BrokenPriceList extends Error {
  override readonly name = 'BrokenPriceList';
}

/** Clocks differ by so much, in milliseconds; a later time is a mistake. */
const MOST_AHEAD_MS = 300_000;

const time = (nowMs: number) =>
  z.iso
    .datetime({ offset: true, error: 'must be a time such as 2026-01-31T18:00:00Z' })
    .transform((text) => new Date(text).toISOString())
    .refine((text) => Date.parse(text) <= nowMs + MOST_AHEAD_MS, { error: 'is in the future' });

// A JSON number is not exact, and 0 is what services say of what they do not know.
const price = z
  .string({ error: 'must be a text such as "2971.23"' })
  .regex(/^\d{1,20}(\.\d{1,30})?$/, 'must be a decimal number such as 2971.23')
  .refine((text) => /[1-9]/.test(text), 'must be above 0: leave out what has no price');

const listSchema = (nowMs: number) =>
  z.object({
    currency: z.string().regex(/^[A-Z][A-Z0-9]{1,11}$/, 'must be a code such as USD'),
    at: time(nowMs),
    prices: z.array(z.unknown()),
  });

const entrySchema = (nowMs: number) =>
  z.object({
    networkId: z.int().positive(),
    tokenAddress: z.string().regex(ADDRESS_PATTERN, 'must be an address'),
    price,
    at: time(nowMs).optional(),
  });

/** The id of an asset in a list: addresses are compared whatever the case of their digits. */
export const assetId = (networkId: number, tokenAddress: string): string =>
  `${networkId}:${tokenAddress.toLowerCase()}`;

const reasons = ({ issues }: z.ZodError): string =>
  issues
    .map(({ path, message }) => [path.join('.'), message].filter((part) => part !== '').join(' '))
    .join(', ');

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BrokenPriceList('is not JSON');
  }
}

/**
 * Reads a list of prices (docs/balances.md). A bad entry is left out, and so are all entries of an asset that has two: nobody knows which
 * is right. Throws BrokenPriceList for a text that is not a list.
 */
export function readPriceList(text: string, nowMs: number): PriceList {
  const { data: list, error: fault } = listSchema(nowMs).safeParse(parsed(text));
  if (!list) throw new BrokenPriceList(reasons(fault));
  const entry = entrySchema(nowMs);
  const bad: string[] = [];
  const prices = new Map<string, Price>();
  const places = new Map<string, number>();
  for (const [index, one] of list.prices.entries()) {
    const { data, error } = entry.safeParse(one);
    if (!data) {
      bad.push(`prices[${index}]: ${reasons(error)}`);
      continue;
    }
    const id = assetId(data.networkId, data.tokenAddress);
    const first = places.get(id);
    if (first !== undefined) {
      bad.push(`prices[${index}]: is of the asset of prices[${first}]`);
      prices.delete(id);
      continue;
    }
    places.set(id, index);
    prices.set(id, { price: data.price, at: data.at ?? list.at });
  }
  return { currency: list.currency, at: list.at, prices, bad };
}
