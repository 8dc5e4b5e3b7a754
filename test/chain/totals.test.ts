import type { Address, Hex } from 'viem';
import { readBalances } from '../../src/chain/balances';
import { createChainClient } from '../../src/chain/clients';
import type { ListedToken } from '../../src/chain/tokenList';
import { readNetworkTotals } from '../../src/chain/totals';
import type { NetworkConfig } from '../../src/config';
import { sharedApi } from '../support/api';
import { anAddress } from '../support/builders';
import { startRpcProxy } from '../support/rpcProxy';
import type { TestService } from '../support/service';
import { endpointOf, rpc } from '../support/stack';

const MOST = (2n ** 256n - 1n).toString();
/** Returns one word, whatever it is asked. */
const returning = (word: string): Hex => `0x7f${word}60005260206000f3`;
const FIVE = returning('5'.padStart(64, '0'));
const CODES: { readonly [name: string]: Hex } = {
  five: FIVE,
  most: returning('f'.repeat(64)),
  /** A megabyte of zeros. */
  huge: '0x621000006000f3',
  reverting: '0x60006000fd',
  burning: '0xfe',
  looping: '0x5b600056',
  silent: '0x00',
};

let api: TestService;
let network: NetworkConfig;
let url: string;

beforeAll(async () => {
  api = await sharedApi();
  const found = api.config.networks.find(({ id }) => id === 31337);
  if (!found) throw new Error('there is no such network');
  network = found;
  url = endpointOf(network);
});
afterAll(() => api?.stop());

async function token(code: Hex): Promise<ListedToken> {
  const address = anAddress();
  await rpc(url, 'anvil_setCode', [address, code]);
  return { networkId: network.id, address, symbol: 'T', name: 'T', decimals: 2, logoUrl: null };
}

async function holder(wei: bigint): Promise<Address> {
  const address = anAddress() as Address;
  await rpc(url, 'anvil_setBalance', [address, `0x${wei.toString(16)}`]);
  return address;
}

it('adds up what accounts hold at one block, and leaves out what cannot be read', async () => {
  const accounts = await Promise.all([1n, 2n, 0n].map(holder));
  const tokens = await Promise.all(Object.values(CODES).map(token));
  const elsewhere = { ...(await token(FIVE)), networkId: 5 };
  const { totals, missing } = await readNetworkTotals(createChainClient(network), accounts, [
    ...tokens,
    elsewhere,
  ]);
  const [native, ...others] = totals;
  expect(native).toMatchObject({ rawAmount: '3', displayAmount: '0.000000000000000003', accounts: 2 });
  expect(others.map(({ asset, rawAmount, accounts: some }) => [asset.tokenAddress, rawAmount, some])).toEqual(
    [
      [tokens[0]?.address, '15', 3],
      [tokens[1]?.address, (3n * BigInt(MOST)).toString(), 3],
      [tokens[2]?.address, '0', 0],
    ],
  );
  expect(others[0]?.displayAmount).toBe('0.15');
  expect(new Set(totals.map(({ blockNumber }) => blockNumber)).size).toBe(1);
  expect(native?.blockAt).toMatch(/Z$/);
  expect(missing).toEqual(
    tokens.slice(3).map(({ address }) => ({
      ...{ networkId: network.id, assetId: `${network.id}:${address}`, accounts: 3, reason: 'failed' },
    })),
  );
}, 60_000);

it('reads many accounts in few calls, and of the rest says that they are not read', async () => {
  let calls = 0;
  const proxy = await startRpcProxy(url, (body, pass) => {
    if (body.includes('"eth_call"')) calls += 1;
    return pass();
  });
  try {
    const client = createChainClient({ ...network, rpcUrls: [proxy.url] });
    const accounts = Array.from({ length: 260 }, () => anAddress() as Address);
    const many = Array.from({ length: 60 }, () => FIVE);
    const tokens = await Promise.all(many.map(token));
    const { totals, missing } = await readNetworkTotals(client, accounts, tokens, { timeLimitMs: 100_000 });
    expect(totals).toHaveLength(50);
    expect(totals[1]).toMatchObject({ rawAmount: '1250', accounts: 250 });
    expect(calls).toBeLessThanOrEqual(49 * 3);
    expect(missing.filter(({ assetId }) => assetId === null)).toEqual([
      { networkId: network.id, assetId: null, accounts: 10, reason: 'limit' },
    ]);
    expect(missing.filter(({ assetId, reason }) => assetId !== null && reason === 'limit')).toHaveLength(11);
  } finally {
    await proxy.stop();
  }
}, 120_000);

it('counts nothing that it had no time to read', async () => {
  const accounts = [await holder(1n), await holder(2n)];
  const [one, client] = [await token(FIVE), createChainClient(network)];
  const { totals, missing } = await readNetworkTotals(client, accounts, [one], { timeLimitMs: 0 });
  expect(totals).toEqual([]);
  expect(missing).toEqual(
    [`0x${'0'.repeat(40)}`, one.address].map((address) => ({
      ...{ networkId: network.id, assetId: `${network.id}:${address}`, accounts: 2, reason: 'failed' },
    })),
  );
});

it('says so where a network does not answer, is another one, or says nonsense of its block', async () => {
  const accounts = [await holder(1n)];
  const gone = createChainClient({ ...network, rpcUrls: ['http://127.0.0.1:9'] });
  const unavailable = { networkId: network.id, assetId: null, accounts: 1, reason: 'unavailable' };
  expect(await readNetworkTotals(gone, accounts, [])).toEqual({ totals: [], missing: [unavailable] });
  const other = createChainClient({ ...network, id: 5 });
  expect(await readNetworkTotals(other, accounts, [])).toEqual({
    totals: [],
    missing: [{ ...unavailable, networkId: 5 }],
  });
  const [one] = await readBalances(createChainClient({ ...network, id: 5 }), accounts[0] as Address, []);
  expect(one).toMatchObject({ rawAmount: null, unavailable: true });
  const proxy = await startRpcProxy(url, async (body, pass) => {
    const text = await pass();
    if (!body.includes('eth_getBlockByNumber')) return text;
    const answer = JSON.parse(text);
    return JSON.stringify({ ...answer, result: { ...answer.result, timestamp: `0x${'f'.repeat(20)}` } });
  });
  try {
    const lying = createChainClient({ ...network, rpcUrls: [proxy.url] });
    expect(await readNetworkTotals(lying, accounts, [])).toEqual({ totals: [], missing: [unavailable] });
  } finally {
    await proxy.stop();
  }
});
