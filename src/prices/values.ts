import { assetId } from './priceList';
import { isStale, type Prices } from './prices';

/** What an amount is worth, at the price of a time. */
export interface Value {
  /** In the currency of the prices: exact, decimal. */
  readonly amount: string;
  /** Of one whole unit. */
  readonly price: string;
  /** The time of the price: ISO 8601. */
  readonly at: string;
}

/** An exact number: `digits` / 10^`places`. */
interface Decimal {
  readonly digits: bigint;
  readonly places: number;
}

function decimalOf(text: string): Decimal {
  const [whole = '', fraction = ''] = text.split('.');
  return { digits: BigInt(whole + fraction), places: fraction.length };
}

function textOf({ digits, places }: Decimal): string {
  const text = String(digits).padStart(places + 1, '0');
  const whole = text.slice(0, text.length - places);
  const fraction = text.slice(text.length - places).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

function sum(one: Decimal, other: Decimal): Decimal {
  const places = Math.max(one.places, other.places);
  const scaled = ({ digits, places: own }: Decimal) => digits * 10n ** BigInt(places - own);
  return { digits: scaled(one) + scaled(other), places };
}

/** An amount in the smallest unit, and what it is of. */
export interface Held {
  readonly networkId: number;
  readonly asset: { readonly tokenAddress: string; readonly decimals: number | null };
  readonly rawAmount: string;
}

/** What an amount is worth; null without a price of now, or where its decimals are not known. */
export function worthOf({ networkId, asset, rawAmount }: Held, prices: Prices, nowMs: number): Value | null {
  if (prices.status !== 'current' || asset.decimals === null) return null;
  const found = prices.list?.prices.get(assetId(networkId, asset.tokenAddress));
  if (!found || isStale(found.at, nowMs)) return null;
  const { digits, places } = decimalOf(found.price);
  const amount = textOf({ digits: BigInt(rawAmount) * digits, places: places + asset.decimals });
  return { amount, price: found.price, at: found.at };
}

/** What values are together: exact, decimal. */
export function sumOf(values: readonly (Value | null)[]): string {
  return textOf(
    values.reduce((all, value) => (value ? sum(all, decimalOf(value.amount)) : all), {
      digits: 0n,
      places: 0,
    } as Decimal),
  );
}
