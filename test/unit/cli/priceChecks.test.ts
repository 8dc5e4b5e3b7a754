import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkPrices } from '../../../src/cli/doctor/priceChecks';

const dir = mkdtempSync(join(tmpdir(), 'prices-'));
const file = join(dir, 'prices.json');
afterAll(() => rmSync(dir, { recursive: true }));

const check = (at: string, prices: readonly object[]) => {
  writeFileSync(file, JSON.stringify({ currency: 'USD', at, prices }));
  return checkPrices({ prices: { file } });
};

it('says how many prices there are, and of when', async () => {
  const at = new Date().toISOString();
  const price = { networkId: 1, tokenAddress: `0x${'0'.repeat(40)}`, price: '1' };
  expect(await check(at, [price])).toEqual([
    { part: 'prices', status: 'ok', found: `1 price in USD, of ${at}` },
  ]);
  expect(await checkPrices({})).toEqual([]);
});

it('warns of prices that give no value, and of entries that are left out', async () => {
  expect(await check('2026-01-01T00:00:00Z', [])).toMatchObject([
    { part: 'prices', status: 'warn', found: 'PRICES_FILE is older than 24 h' },
  ]);
  expect(await check(new Date().toISOString(), [{}])).toMatchObject([{ part: 'prices', status: 'warn' }]);
});
