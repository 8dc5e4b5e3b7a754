import { type Edit, MAX_RESOURCES } from '../../src/domain/governance';
import { approve, carryOut, expectRefused, proposeChange, read, refusal, sharedApi } from '../support/api';
import { aMember, anAddress, anId } from '../support/builders';
import type { TestOrganization, TestService } from '../support/service';
import { aPolicy } from '../support/transactions';

let api: TestService;
let org: TestOrganization;

beforeAll(async () => {
  api = await sharedApi();
});
afterAll(() => api?.stop());
beforeEach(async () => {
  org = await api.createOrganization();
});

const group = (name: string): Edit => {
  const id = anId('grp');
  return { type: 'group', id, after: { id, name, memberIds: [] } };
};
const account = (name: string): Edit => {
  const id = anId('acc');
  return { type: 'account', id, after: { id, name, address: anAddress(), networkIds: [31_337] } };
};
const member = (name: string): Edit => {
  const after = aMember().build();
  return { type: 'member', id: after.id, after: { ...after, name } };
};
const policy = (name: string): Edit => {
  const { id: _, ...definition } = aPolicy({ name });
  const id = anId('pol');
  return { type: 'policy', id, after: { id, definition } };
};
const anyTransfer = (name: string) => ({
  ...{ name, type: 'AUTO_APPROVAL', transactionType: 'TOKEN_TRANSFER', networkId: 31_337 },
  ...{ accountIds: null, initiatorSetting: null },
  tokenTransferCondition: { tokenAddress: null, amountThreshold: null, destinationAddresses: [] },
});

/** Lets an organization have so many resources that the next one is its last. */
async function fillUpTo(one: number, make: (name: string) => Edit, existing: number): Promise<void> {
  await org.decide(Array.from({ length: MAX_RESOURCES - one - existing }, (_, i) => make(`Filler ${i}`)));
}

describe('the most resources of a kind', () => {
  test.each<[string, string, (name: string) => Edit, number, (names: readonly string[]) => object, string]>([
    [
      'groups',
      '/groups/proposals/create',
      group,
      0,
      (names) => ({ items: names.map((name) => ({ name, memberIds: [] })) }),
      'items[1]',
    ],
    [
      'accounts',
      '/accounts/proposals/create',
      account,
      0,
      (names) => ({ items: names.map((name) => ({ name, networkIds: [31_337] })) }),
      'items[1]',
    ],
    [
      'members',
      '/members/proposals/create',
      member,
      6,
      (names) => ({ items: names.map((name) => ({ name, walletAddress: anAddress() })) }),
      'items[1]',
    ],
    [
      'policies',
      '/policies/proposals/add',
      policy,
      0,
      (names) => ({ policies: names.map(anyTransfer) }),
      'policies[1]',
    ],
  ])('are not exceeded by a proposal of %s', async (kind, path, make, existing, bodyOf, field) => {
    await fillUpTo(1, make, existing);
    const answer = await expectRefused(
      api.http,
      org,
      { key: org.adminKey, path: `/api/v1${path}`, body: bodyOf(['One', 'Two']) },
      refusal(409, 'conflict', field),
    );
    expect(answer.body.error.message).toBe(
      `the organization would have 1001 ${kind} (expected at most 1000)`,
    );
    await proposeChange(api.http, org, path, bodyOf(['One']));
  });

  test('are not exceeded by proposals that are open together', async () => {
    await fillUpTo(1, group, 0);
    const propose = (name: string) =>
      proposeChange(api.http, org, '/groups/proposals/create', { items: [{ name, memberIds: [] }] });
    const [first, second] = [await propose('One'), await propose('Two')];
    await carryOut(api.http, org, first);
    const refused = await approve(api.http, org, second);
    expect([refused.executionStatus, refused.failure.message]).toEqual([
      'blocked',
      'the organization would have 1001 groups (expected at most 1000)',
    ]);
    expect((await read(api.http, org.readKey, '/api/v1/groups')).length).toBe(MAX_RESOURCES);
  });
});
