import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeAccount, read, type Shown, startApi } from '../support/api';
import type { TestOrganization, TestService } from '../support/service';
import { rpc, sharedStack, temporaryDir } from '../support/stack';
import { storeAccount } from '../support/storedTransactions';
import { until } from '../support/until';

const NATIVE = `0x${'0'.repeat(40)}`;

let api: TestService;
let org: TestOrganization;
let file: string;

const write = (more: object = {}) => {
  const prices = [{ networkId: 31337, tokenAddress: NATIVE, price: '2971.23' }];
  writeFileSync(file, JSON.stringify({ currency: 'USD', at: new Date().toISOString(), prices, ...more }));
};
const totals = () => read(api.http, org.readKey, '/api/v1/balances');

beforeAll(async () => {
  file = join(temporaryDir(), 'prices.json');
  write();
  api = await startApi({ env: { PRICES_FILE: file } });
  org = await api.createOrganization();
  const account = await makeAccount(api.http, org, { networkIds: [31337, 31338] });
  const [first] = sharedStack().chains;
  await rpc(first?.rpcUrl ?? '', 'anvil_setBalance', [account.address, '0x14d1120d7b160000']);
});
afterAll(() => api?.stop());

describe('prices', () => {
  it('give what is held a value, with the time of the price', async () => {
    const { totals: found, prices, missing } = await totals();
    expect(missing).toEqual([]);
    const [held, ...others] = found;
    expect(held).toMatchObject({ networkId: 31337, displayAmount: '1.5' });
    expect(held.value).toEqual({ amount: '4456.845', price: '2971.23', at: prices.at });
    // The same symbol on another network, and a token: neither has a price.
    expect(others.map(({ value }: Shown) => value)).toEqual([null, null, null]);
    expect(prices).toMatchObject({ status: 'current', currency: 'USD', problem: null, value: '4456.845' });
  });

  it.each([
    ['stale', { at: '2026-01-01T00:00:00Z' }, 'PRICES_FILE is older than 24 h'],
    ['broken', { prices: {} }, 'PRICES_FILE prices Invalid input: expected array, received object'],
  ])('say so where they are %s, and give no value', async (status, more, problem) => {
    write(more);
    const shown = await until<Shown>(`prices are ${status}`, async () => {
      const now = await totals();
      return now.prices.status === status ? now : undefined;
    });
    expect(shown.prices).toMatchObject({ status, problem, value: null });
    expect(shown.totals.map(({ value }: Shown) => value)).toEqual([null, null, null, null]);
  });
});

it('totals lack what is on a network that is not configured any more, and say so', async () => {
  const former = await api.createOrganization();
  await storeAccount(api.db, former.id, { networkIds: [31_338, 424_242] });
  const { totals: found, missing } = await read(api.http, former.readKey, '/api/v1/balances');
  expect(new Set(found.map(({ networkId }: Shown) => networkId))).toEqual(new Set([31_338]));
  expect(missing).toEqual([{ networkId: 424_242, assetId: null, accounts: 1, reason: 'unavailable' }]);
});
