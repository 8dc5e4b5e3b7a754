/** @deep */
import { change, makeAccount, proposeChange, read, type Shown, sharedApi } from '../support/api';
import { anAddress } from '../support/builders';
import { aPolicyItem, aTokenCondition } from '../support/policies';
import type { TestOrganization, TestService } from '../support/service';
import { storeTransaction } from '../support/storedTransactions';
import { itDeep } from '../support/suite';
import { aTransactionBody, createTransaction, makePolicies } from '../support/transactionApi';

const IMPACT = '/api/v1/policies/impact';
const [SHOP, BAKERY] = [anAddress(), anAddress()];

let api: TestService;
let org: TestOrganization;
let account: Shown;
let policy: Shown;

beforeAll(async () => {
  api = await sharedApi();
  org = await api.createOrganization();
  account = await makeAccount(api.http, org, { name: 'Treasury', networkIds: [31337] });
  [policy] = await makePolicies(api.http, org, aPolicyItem({ name: 'Any transfer' }));
  for (const [to, value] of [
    [SHOP, '3'],
    [BAKERY, '5'],
    [SHOP, '9'],
  ] as const) {
    const body = aTransactionBody(org, { account, policy, to }, { value, description: `${value} wei` });
    await createTransaction(api.http, org, body);
  }
});
afterAll(() => api?.stop());

const atMost = (amountThreshold: string, more: object = {}) =>
  aPolicyItem({ tokenTransferCondition: aTokenCondition({ amountThreshold, ...more }) });

async function preview(policies: readonly object[], of = org): Promise<Shown> {
  const answer = await api.http.send({ key: of.readKey, path: IMPACT, body: { policies } });
  if (answer.status !== 200) throw new Error(`preview → ${answer.status} ${answer.text}`);
  return answer.body.data;
}

const permittedOf = ({ changed }: Shown) =>
  changed.map(({ description, permitted }: Shown) => [description, permitted]);

it('says which of the last transactions a new policy would have permitted, and why not the others', async () => {
  const item = atMost('5');
  const { transactions, since, policies } = await preview([item]);
  expect(transactions).toBe(3);
  expect(Date.parse(since)).toBeLessThan(Date.now());
  const [{ conditions, changed, ...counts }] = policies;
  expect(counts).toEqual({
    ...{ id: null, name: item.name, permitted: 2, refused: 1 },
    ...{ newlyPermitted: 2, noLongerPermitted: 0 },
  });
  expect(conditions).toEqual([{ condition: 'amount', transactions: 1 }]);
  expect(permittedOf({ changed })).toEqual([
    ['5 wei', true],
    ['3 wei', true],
  ]);
  expect(changed[0].summary).toContain(`to ${BAKERY}`);
});

it('uses a budget up in the order of the transactions', async () => {
  const scope = 'ALL_ITEMS';
  const limitation = { hours: 24, initiatorScope: scope, sourceAccountScope: scope, destinationScope: scope };
  const [{ permitted, conditions }] = (await preview([{ ...atMost('10'), limitation }])).policies;
  expect(permitted).toBe(2);
  expect(conditions).toEqual([{ condition: 'budget', transactions: 1 }]);
});

it('compares a changed policy with what it is now, as it would be signed', async () => {
  const { id, name } = policy;
  const changedItem = { ...atMost('5', { destinationAddresses: [SHOP] }), id, name };
  const { summary, policies } = await preview([changedItem, atMost('1')]);
  expect(policies.map(({ id: one }: Shown) => one)).toEqual([id, null]);
  const [found] = policies;
  expect([found.permitted, found.newlyPermitted, found.noLongerPermitted]).toEqual([1, 0, 2]);
  expect(permittedOf(found)).toEqual([
    ['9 wei', false],
    ['5 wei', false],
  ]);
  expect(found.changed[1].failures).toEqual([{ condition: 'destination', found: BAKERY, wanted: SHOP }]);

  const proposal = await proposeChange(api.http, org, '/policies/proposals', { policies: [changedItem] });
  expect((await preview([changedItem])).summary).toBe(proposal.summary);
  const path = `/api/v1/policies/proposals/${proposal.id}/impact`;
  expect(await read(api.http, org.readKey, path)).toEqual(await preview([changedItem]));
  expect(summary).toContain('2 policies');
});

it('says what a removal takes away, while it is open', async () => {
  const other = await api.createOrganization();
  const [doomed, kept] = await makePolicies(api.http, other, aPolicyItem(), aPolicyItem());
  const where = await makeAccount(api.http, other, { name: 'Treasury', networkIds: [31337] });
  await createTransaction(
    api.http,
    other,
    aTransactionBody(other, { account: where, policy: kept, to: SHOP }),
  );
  const body = { policyIds: [doomed.id] };
  const { id } = await proposeChange(api.http, other, '/policies/proposals/remove', body);
  const path = `/api/v1/policies/proposals/${id}/impact`;
  const [found] = (await read(api.http, other.readKey, path)).policies;
  expect(found).toMatchObject({
    id: doomed.id,
    name: doomed.name,
    permitted: 0,
    refused: 1,
    noLongerPermitted: 1,
  });
  const decided = await change(api.http, other, '/policies/proposals/remove', { policyIds: [kept.id] });
  const after = await api.http.send({
    key: other.readKey,
    path: `/api/v1/policies/proposals/${decided.id}/impact`,
  });
  expect([after.status, after.body.code]).toEqual([409, 'conflict']);
});

itDeep(
  'evaluates at most 500 transactions, and fewer for many policies, without blocking for long',
  async () => {
    const of = {
      organizationId: org.id,
      accountId: account.id,
      policyId: policy.id,
      initiatorId: org.dave.id,
    };
    for (let first = 0; first < 510; first += 5) {
      await Promise.all(
        Array.from({ length: 5 }, (_, i) =>
          storeTransaction(api.db, of, { position: BigInt(1_000_000 + first + i) }),
        ),
      );
    }
    const addresses = Array.from({ length: 100 }, () => anAddress());
    const one = await preview([atMost('5', { destinationAddresses: addresses })]);
    expect([one.transactions, one.policies[0].permitted]).toEqual([500, 0]);
    const many = await preview(Array.from({ length: 50 }, () => atMost('5')));
    expect([many.transactions, many.policies.length]).toEqual([100, 50]);
    expect(many.policies[0].changed).toHaveLength(50);
  },
);
