import { type Address, parseAbi } from 'viem';
import { sampleOf } from '../bench/figures';
import { change, read } from '../support/api';
import { anAddress } from '../support/builders';
import { paymentChain } from '../support/payingOrganization';
import { sharedService, type TestOrganization, type TestService } from '../support/service';
import { endpointOf, fundOnLocalChain } from '../support/stack';
import {
  aTransactionBody,
  executeTransaction,
  initiate,
  makePaymentPolicies,
  settledTransaction,
} from '../support/transactionApi';
import { NETWORK_ID } from '../support/transactions';
import { until } from '../support/until';

const ACCOUNTS = 50;
const PAYING = 5;
const PAYMENTS = 60;

let service: TestService;
let org: TestOrganization;

beforeAll(async () => {
  service = await sharedService();
  org = await service.createOrganization();
});
afterAll(() => service?.stop());

type Account = { readonly id: string; readonly address: Address };

/** Pays one wei from each account in turn, one after the other; answers how long each took, in milliseconds. */
async function pay(accounts: readonly Account[], policy: string, times: number): Promise<number[]> {
  const tookMs: number[] = [];
  for (let i = 0; i < times; i += 1) {
    const account = accounts[i % accounts.length] as Account;
    const to = anAddress() as Address;
    const started = performance.now();
    const transaction = await initiate(
      service.http,
      org,
      aTransactionBody(org, { account, policy, to } as never),
    );
    await executeTransaction(service.http, org, transaction);
    const settled = await settledTransaction(service.http, org, transaction);
    tookMs.push(performance.now() - started);
    expect(settled).toMatchObject({ executionStatus: 'completed' });
    expect(await paymentChain(service).client.getBalance({ address: to })).toBe(1n);
  }
  return tookMs;
}

/** The median and the 95th percentile of durations, as text. */
function shown(tookMs: readonly number[]): string {
  const { p50, p95 } = sampleOf(tookMs);
  return `p50 ${Math.round(p50)} ms, p95 ${Math.round(p95)} ms`;
}

const nonceOf = (address: Address) =>
  paymentChain(service).client.readContract({
    address,
    abi: parseAbi(['function nonce() view returns (uint256)']),
    functionName: 'nonce',
  });

test('fifty accounts on two networks get the module while payments run, and each is paid once', async () => {
  const networkIds = service.config.networks.map(({ id }) => id);
  const items = Array.from({ length: ACCOUNTS }, (_, i) => ({ name: `Account ${i}`, networkIds }));
  await change(service.http, org, '/accounts/proposals/create', { items });
  const accounts: Account[] = await read(service.http, org.readKey, '/api/v1/accounts');
  expect(accounts).toHaveLength(ACCOUNTS);
  const paying = accounts.slice(0, PAYING);
  const network = service.config.networks.find(({ id }) => id === NETWORK_ID);
  for (const { address } of paying) await fundOnLocalChain(endpointOf(network as never), address);
  const { auto } = await makePaymentPolicies(service.http, org, NETWORK_ID);
  const before = await pay(paying, auto as never, PAYMENTS);
  const onChain = { updates: [], threshold: 2, onChain: { enabled: true } };
  const started = performance.now();
  await change(service.http, org, '/admins/proposals/update', onChain);
  const secured = until(
    'each account is ready on both networks',
    async () => {
      const found = await read(service.http, org.readKey, '/api/v1/accounts');
      const ready = found.flatMap((one: { networks: { rescue: string }[] }) =>
        one.networks.filter(({ rescue }) => rescue === 'ready'),
      );
      return ready.length === ACCOUNTS * networkIds.length;
    },
    600_000,
  ).then(() => performance.now() - started);
  const during = await pay(paying, auto as never, PAYMENTS);
  const tookMs = await secured;
  // The machine may be another one by now.
  const after = await pay(paying, auto as never, PAYMENTS);
  for (const { address } of paying) {
    expect(await nonceOf(address)).toBe(BigInt((3 * PAYMENTS) / PAYING + 1));
  }
  const twice = await service
    .db('chain_attempts')
    .where({ organization_id: org.id })
    .whereNotNull('account_id')
    .whereNotNull('safe_nonce')
    .groupBy('account_id', 'network_id', 'safe_nonce')
    .havingRaw('count(*) > 1')
    .select('account_id');
  expect(twice).toEqual([]);
  console.info(
    `secured in ${Math.round(tookMs / 1_000)} s; payments ${shown(before)} before, ${shown(during)} meanwhile, ${shown(after)} after`,
  );
}, 900_000);
