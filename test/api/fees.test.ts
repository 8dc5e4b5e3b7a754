import { requireRow } from '../../src/db/rows';
import { makeAccount, type Shown, sharedApi } from '../support/api';
import { anAddress } from '../support/builders';
import { paymentChain } from '../support/payingOrganization';
import { anAnyPolicyItem } from '../support/policies';
import type { TestOrganization, TestService } from '../support/service';
import { fundOnLocalChain } from '../support/stack';
import {
  aTransactionBody,
  createTransaction,
  makePolicies,
  settledTransaction,
  signed,
} from '../support/transactionApi';

let api: TestService;
let org: TestOrganization;
let account: Shown;
let policy: Shown;
let paid: Shown;

async function fees(query = '', of = org) {
  const answer = await api.http.send({ key: of.readKey, path: `/api/v1/fees${query}` });
  return { status: answer.status, data: answer.body.data as Shown[], pagination: answer.body.pagination };
}

beforeAll(async () => {
  api = await sharedApi();
  org = await api.createOrganization();
  account = await makeAccount(api.http, org, { networkIds: [31337] });
  [policy] = await makePolicies(api.http, org, anAnyPolicyItem());
  await fundOnLocalChain(paymentChain(api).rpcUrl, account.address);
  const made = await createTransaction(
    api.http,
    org,
    aTransactionBody(org, { account, policy, to: anAddress() }),
  );
  await signed(api.http, org, made, org.dave, 'initiator', { execute: true });
  paid = await settledTransaction(api.http, org, made);
});
afterAll(() => api?.stop());

const month = () => paid.result.executedAt.slice(0, 7);

it('a transaction has what its relayer has paid', () => {
  expect(paid).toMatchObject({
    executionStatus: 'completed',
    fees: { paid: paid.result.fee, dataFee: '0', chainTransactions: 1, unknown: 0 },
  });
});

it('fees are summed by month, account, policy and kind', async () => {
  const { data, pagination } = await fees();
  expect(pagination).toEqual({ cursor: '', hasMore: false });
  const of = { month: month(), networkId: 31337, accountId: account.id, unknown: 0, chainTransactions: 1 };
  expect(data).toEqual([
    expect.objectContaining({ ...of, ...paid.fees, policyId: policy.id, kind: 'transaction' }),
    expect.objectContaining({ ...of, policyId: null, kind: 'deployment' }),
  ]);
  expect(data[0]?.asset).toMatchObject({ symbol: 'ETH', decimals: 18 });
  expect(BigInt(data[1]?.paid)).toBeGreaterThan(0n);
});

it('fees are filtered, and have pages', async () => {
  const kinds = async (query: string) => (await fees(query)).data.map(({ kind }) => kind);
  expect(await kinds(`?policyId=${policy.id}`)).toEqual(['transaction']);
  expect(await kinds(`?accountId=${account.id}&networkId=31337`)).toEqual(['transaction', 'deployment']);
  expect(await kinds('?networkId=31338')).toEqual([]);
  const { executedAt } = paid.result;
  expect(await kinds(`?to=${executedAt}&policyId=${policy.id}`)).toEqual([]);
  expect(await kinds(`?from=${executedAt}&policyId=${policy.id}`)).toEqual(['transaction']);
  const first = await fees('?limit=1');
  expect([first.data.length, first.pagination.hasMore]).toEqual([1, true]);
  const rest = await fees(`?limit=1&cursor=${first.pagination.cursor}`);
  expect([rest.data.map(({ kind }) => kind), rest.pagination.hasMore]).toEqual([['deployment'], false]);
});

it('the next page begins behind the last sum, though one before it is gone', async () => {
  const first = await fees('?limit=1');
  const lost = { transaction_id: paid.id };
  // The chain has lost its block.
  const { fee: _, ...row } = requireRow(
    (await api.db('relayer_fees').where(lost).delete().returning('*'))[0],
  );
  try {
    const { data } = await fees(`?limit=1&cursor=${first.pagination.cursor}`);
    expect(data.map(({ kind }) => kind)).toEqual(['deployment']);
  } finally {
    await api.db('relayer_fees').insert(row);
  }
});

it('fees of any period are summed, and none outside of the calendar', async () => {
  const from = (time: string) => encodeURIComponent(time);
  for (const query of [
    `?from=${from('0000-01-01T00:00:00+14:00')}&to=${from('9999-12-31T23:59:59-14:00')}`,
    `?to=${from('9999-12-31T23:59:59Z')}`,
  ]) {
    const { status, data } = await fees(query);
    expect([status, data.length]).toEqual([200, 2]);
    const first = await fees(`${query}&limit=1`);
    expect((await fees(`${query}&limit=1&cursor=${first.pagination.cursor}`)).data).toHaveLength(1);
  }
  for (const bad of ['2025-02-30T00:00:00Z', '2025-01-01', '99999-01-01T00:00:00Z', '1']) {
    expect((await fees(`?from=${bad}`)).status).toBe(400);
  }
});

it('fees of another organization are not seen', async () => {
  const other = await api.createOrganization();
  expect((await fees('', other)).data).toEqual([]);
  expect((await fees(`?accountId=${account.id}`, other)).status).toBe(400);
});
