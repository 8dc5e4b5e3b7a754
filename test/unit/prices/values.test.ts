import fc from 'fast-check';
import { pricedTotals } from '../../../src/prices/pricedTotals';
import { readPriceList } from '../../../src/prices/priceList';
import type { Prices } from '../../../src/prices/prices';

const NOW = Date.parse('2026-01-31T18:00:00Z');
const at = '2026-01-31T17:00:00.000Z';
const ADDRESS = '0xAbCdEf0123456789aBcDeF0123456789abcdef01';
const of = (price: string, more: Partial<Prices> = {}): Prices => {
  const entry = { networkId: 1, tokenAddress: ADDRESS.toLowerCase(), price };
  const text = JSON.stringify({ currency: 'EUR', at, prices: [entry] });
  return { status: 'current', problem: null, list: readPriceList(text, NOW), ...more };
};
const total = (rawAmount: string, decimals: number | null, networkId = 1) => ({
  networkId,
  asset: { tokenAddress: ADDRESS, decimals },
  rawAmount,
});
const valueIn = (prices: Prices | undefined, ...totals: ReturnType<typeof total>[]) =>
  pricedTotals({ totals, missing: [] }, prices, NOW);

/** A decimal text as a number of units of 10^-`places`. */
function scaled(text: string, places: number): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(places, '0'));
}

it('are exact, whatever the amount and the price', () => {
  const price = fc
    .tuple(fc.bigInt({ min: 1n, max: 10n ** 20n - 1n }), fc.integer({ min: 0, max: 30 }))
    .map(([digits, places]) => {
      const text = String(digits).padStart(places + 1, '0');
      return places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`;
    });
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 2n ** 264n }),
      fc.integer({ min: 0, max: 36 }),
      price,
      (raw, decimals, one) => {
        const shown = valueIn(of(one), total(String(raw), decimals), total(String(raw), decimals));
        const [first] = shown.totals;
        const expected = raw * scaled(one, 30) * 10n ** BigInt(36 - decimals);
        expect(scaled(first?.value?.amount ?? '', 66)).toBe(expected);
        expect(first?.value?.amount).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);
        expect(scaled(shown.prices?.value ?? '', 66)).toBe(2n * expected);
      },
    ),
  );
});

it('have the price and its time', () => {
  const { totals, prices } = valueIn(of('2971.23'), total('1500000', 6), total('7', 6, 10));
  expect(totals.map(({ value }) => value)).toEqual([{ amount: '4456.845', price: '2971.23', at }, null]);
  expect(prices).toEqual({ status: 'current', currency: 'EUR', at, problem: null, value: '4456.845' });
});

it('are not there without decimals, without a price of the last day, and without prices', () => {
  const none = (prices: Prices | undefined, one = total('1', 6)) => valueIn(prices, one).totals[0]?.value;
  expect(none(of('1'), total('1', null))).toBeNull();
  expect(none(of('1', { status: 'stale' }))).toBeNull();
  expect(none({ status: 'broken', problem: 'PRICES_FILE is not JSON' })).toBeNull();
  expect(none(undefined)).toBeNull();
  expect(valueIn(undefined).prices).toBeNull();
  expect(valueIn(of('1', { status: 'stale' }), total('1', 6)).prices?.value).toBeNull();
  // What was current when it was read.
  expect(
    pricedTotals({ totals: [total('1', 6)], missing: [] }, of('1'), NOW + 24 * 3_600_000).totals[0]?.value,
  ).toBeNull();
});
