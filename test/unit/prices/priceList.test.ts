import { BrokenPriceList, readPriceList } from '../../../src/prices/priceList';

const NOW = Date.parse('2026-01-31T18:00:00Z');
const ETH = `0x${'0'.repeat(40)}`;
const TOKEN = '0xAbCdEf0123456789aBcDeF0123456789abcdef01';
const entry = (more: object = {}) => ({ networkId: 1, tokenAddress: ETH, price: '2971.23', ...more });
const list = (prices: unknown, more: object = {}) =>
  JSON.stringify({ currency: 'USD', at: '2026-01-31T17:00:00Z', prices, ...more });
const read = (text: string) => readPriceList(text, NOW);

it('reads prices with the time of each', () => {
  const token = entry({ networkId: 10, tokenAddress: TOKEN, price: '0.5', at: '2026-01-31T17:30:00+01:00' });
  const { currency, at, prices, bad } = read(list([entry({ symbol: 'ETH' }), token]));
  expect({ currency, at, bad }).toEqual({ currency: 'USD', at: '2026-01-31T17:00:00.000Z', bad: [] });
  expect([...prices]).toEqual([
    [`1:${ETH}`, { price: '2971.23', at: '2026-01-31T17:00:00.000Z' }],
    [`10:${TOKEN.toLowerCase()}`, { price: '0.5', at: '2026-01-31T16:30:00.000Z' }],
  ]);
});

it.each([
  ['no JSON', '{"currency":', 'is not JSON'],
  ['a page', '<html>', 'is not JSON'],
  ['something else', '[]', 'expected object'],
  ['no currency', list([], { currency: undefined }), 'currency'],
  [
    'a currency that is not a code',
    list([], { currency: 'US dollars' }),
    'currency must be a code such as USD',
  ],
  ['no time', list([], { at: undefined }), 'at must be a time such as'],
  ['a time without a zone', list([], { at: '2026-01-31T17:00:00' }), 'at must be a time such as'],
  ['seconds since 1970', list([], { at: 1_769_878_800 }), 'at must be a time such as'],
  ['a time to come', list([], { at: '2026-01-31T18:06:00Z' }), 'at is in the future'],
  ['prices by symbol', list({ ETH: '2971.23' }), 'prices'],
])('refuses %s', (_, text, message) => {
  expect(() => read(text)).toThrow(BrokenPriceList);
  expect(() => read(text)).toThrow(message);
});

it.each([
  ['a JSON number', { price: 2971.23 }, 'price must be a text'],
  ['null', { price: null }, 'price must be a text'],
  ['zero', { price: '0.00' }, 'price must be above 0'],
  ['less than zero', { price: '-1' }, 'price must be a decimal number'],
  ['an exponent', { price: '1e-8' }, 'price must be a decimal number'],
  ['groups', { price: '2,971.23' }, 'price must be a decimal number'],
  ['digits of another script', { price: '٣' }, 'price must be a decimal number'],
  ['more digits than any price', { price: '9'.repeat(21) }, 'price must be a decimal number'],
  ['no network', { networkId: '1' }, 'networkId'],
  ['no address', { tokenAddress: 'ETH' }, 'tokenAddress must be an address'],
  ['a time to come', { at: '2027-01-01T00:00:00Z' }, 'at is in the future'],
])('leaves out an entry with %s', (_, more, message) => {
  const other = entry({ networkId: 10 });
  const { prices, bad } = read(list([entry(more), other]));
  expect([...prices.keys()]).toEqual([`10:${ETH}`]);
  expect(bad).toHaveLength(1);
  expect(bad[0]).toContain(`prices[0]: ${message}`);
});

it('takes no price of an asset that has several', () => {
  const twice = [
    entry({ tokenAddress: TOKEN }),
    entry(),
    entry({ tokenAddress: TOKEN.toLowerCase(), price: '3' }),
  ];
  const { prices, bad } = read(list([...twice, entry({ tokenAddress: TOKEN, price: '4' })]));
  expect([...prices.keys()]).toEqual([`1:${ETH}`]);
  expect(bad).toEqual([2, 3].map((n) => `prices[${n}]: is of the asset of prices[0]`));
});
