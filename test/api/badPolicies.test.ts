import {
  type BadRequest,
  change,
  expectAllRefused,
  expectRefused,
  makeAccount,
  refusal,
  sharedApi,
  UNKNOWN,
} from '../support/api';
import { anAddress } from '../support/builders';
import { aContractPolicyItem, aPolicyItem, aTokenCondition, type WrittenPolicy } from '../support/policies';
import type { TestOrganization, TestService } from '../support/service';
import { sharedStack } from '../support/stack';

const MIXED = '/policies/proposals';
const ADD = '/policies/proposals/add';
const CHANGE = '/policies/proposals/update';
const REMOVE = '/policies/proposals/remove';

interface Ids {
  readonly account: string;
  readonly member: string;
  readonly group: string;
  readonly policy: string;
}

let api: TestService;
let org: TestOrganization;
let own: Ids;
let foreign: Ids;

/** An account, a member, a group of two and a policy of an organization. */
async function idsOf(organization: TestOrganization): Promise<Ids> {
  const made = async (path: string, body: object): Promise<string> =>
    (await change(api.http, organization, path, body)).result.resources[0].id;
  const memberIds = [organization.alice.id, organization.bob.id];
  return {
    account: (await makeAccount(api.http, organization)).id,
    member: organization.alice.id,
    group: await made('/groups/proposals/create', { items: [{ name: 'Two', memberIds }] }),
    policy: await made(ADD, { policies: [aPolicyItem()] }),
  };
}

beforeAll(async () => {
  api = await sharedApi();
  org = await api.createOrganization();
  own = await idsOf(org);
  foreign = await idsOf(await api.createOrganization());
});
afterAll(() => api?.stop());

const approvers = (groupId: string, threshold: number) =>
  aPolicyItem({ type: 'MANUAL_APPROVAL', approverSetting: { type: 'group', groupId, threshold } });
const approver = (approverSetting: object) => aPolicyItem({ type: 'MANUAL_APPROVAL', approverSetting });
const initiator = (initiatorSetting: object) => aPolicyItem({ initiatorSetting });

describe('a policy that names an unknown record', () => {
  const items: readonly [string, (ids: Ids) => WrittenPolicy, string][] = [
    ['an account', (ids) => aPolicyItem({ accountIds: [own.account, ids.account] }), 'accountIds[1]'],
    ['an initiator', (ids) => initiator({ type: 'user', memberId: ids.member }), 'initiatorSetting.memberId'],
    [
      'an initiator by the other name',
      (ids) => initiator({ type: 'user', userId: ids.member }),
      'initiatorSetting.userId',
    ],
    ['initiators', (ids) => initiator({ type: 'group', groupId: ids.group }), 'initiatorSetting.groupId'],
    ['an approver', (ids) => approver({ type: 'user', memberId: ids.member }), 'approverSetting.memberId'],
    [
      'an approver by the other name',
      (ids) => approver({ type: 'user', userId: ids.member }),
      'approverSetting.userId',
    ],
    ['approvers', (ids) => approvers(ids.group, 1), 'approverSetting.groupId'],
    ['itself', (ids) => aPolicyItem({ id: ids.policy }), 'id'],
    ['a network', () => aPolicyItem({ networkId: 5 }), 'networkId'],
    ['a network of calls', () => aContractPolicyItem(null, { networkId: 5 }), 'networkId'],
  ];

  it('is refused at its field, with one message for foreign and unknown ids', async () => {
    const requests = (ids: Ids): BadRequest[] => [
      ...items.map(
        ([name, item, field]): BadRequest => [
          name,
          MIXED,
          { policies: [aPolicyItem(), item(ids)] },
          `policies[1].${field}`,
        ],
      ),
      ['removed', REMOVE, { policyIds: [own.policy, ids.policy] }, 'policyIds[1]'],
      ['changed', CHANGE, { policies: [aPolicyItem({ id: ids.policy })] }, 'policies[0].id'],
    ];
    const [one, two] = await Promise.all(
      [foreign, UNKNOWN].map(async (ids) => {
        const answers = await expectAllRefused(api.http, org, requests(ids));
        return answers.map(({ body }) => body.message.replace(/[a-z]{3}_[0-9a-z]{26}/, 'id'));
      }),
    );
    expect(one).toEqual(two);
  });

  it('is not found in a path', async () => {
    for (const id of [foreign.policy, UNKNOWN.policy, 'pol_1', own.account]) {
      const answer = await api.http.send({ key: org.readKey, path: `/api/v1/policies/${id}` });
      expect([answer.status, answer.body.code]).toEqual([404, 'notFound']);
    }
  });
});

describe('a policy with a bad field', () => {
  const token = 'policies[0].tokenTransferCondition';
  const contracts = 'policies[0].contractInteractionCondition';
  const limited = (change: object) =>
    aPolicyItem({
      limitation: {
        hours: 1,
        initiatorScope: 'PER_ITEM',
        sourceAccountScope: 'PER_ITEM',
        destinationScope: 'PER_ITEM',
        ...change,
      },
    });
  const transfer = (change: object) => aPolicyItem({ tokenTransferCondition: aTokenCondition(change) });
  const rule = (change: object = {}) => ({ contractAddress: anAddress(), allowedFunctions: [], ...change });

  it('is refused, and nothing changes', async () => {
    const demo = sharedStack().chains[0]?.token.address;
    const amounts = ['-1', '+1', '1.5', '1e18', '1'.repeat(79), String(2n ** 256n)];
    const items: [string, WrittenPolicy, string][] = [
      ['more approvers than the group has', approvers(own.group, 3), 'policies[0].approverSetting.threshold'],
      ['no approvers', approvers(own.group, 0), 'policies[0].approverSetting.threshold'],
      [
        'AUTO_APPROVAL with an approver',
        aPolicyItem({ approverSetting: { type: 'user', memberId: own.member } }),
        'policies[0].approverSetting',
      ],
      [
        'MANUAL_APPROVAL without one',
        aPolicyItem({ type: 'MANUAL_APPROVAL' }),
        'policies[0].approverSetting',
      ],
      ...amounts.map((amount): [string, WrittenPolicy, string] => [
        `an amount of ${amount}`,
        transfer({ tokenAddress: demo, amountThreshold: amount }),
        `${token}.amountThreshold`,
      ]),
      ...amounts.map((maxValue): [string, WrittenPolicy, string] => [
        `a value of ${maxValue}`,
        aContractPolicyItem([rule({ maxValue })]),
        `${contracts}[0].maxValue`,
      ]),
      ['0 hours', limited({ hours: 0 }), 'policies[0].limitation.hours'],
      ['8,761 hours', limited({ hours: 8_761 }), 'policies[0].limitation.hours'],
      ['an unknown scope', limited({ initiatorScope: 'EACH' }), 'policies[0].limitation.initiatorScope'],
      [
        'a selector that is none',
        aContractPolicyItem([rule({ allowedFunctions: ['0x1234'] })]),
        `${contracts}[0].allowedFunctions[0]`,
      ],
      [
        'a selector that clashes',
        aContractPolicyItem([rule({ allowedFunctions: ['many_msg_babbage(bytes1)'] })]),
        `${contracts}[0].allowedFunctions[0]`,
      ],
      ['two conditions', aPolicyItem({ contractInteractionCondition: [rule()] }), contracts],
      [
        'the zero address as destination',
        transfer({ destinationAddresses: [`0x${'0'.repeat(40)}`] }),
        `${token}.destinationAddresses[0]`,
      ],
      [
        'the token itself as destination',
        transfer({ tokenAddress: demo, destinationAddresses: [anAddress(), demo] }),
        `${token}.destinationAddresses[1]`,
      ],
      [
        'a wrong checksum',
        transfer({ tokenAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79c8' }),
        `${token}.tokenAddress`,
      ],
      ['no accounts', { ...aPolicyItem(), accountIds: undefined }, 'policies[0].accountIds'],
      ['an empty list of accounts', aPolicyItem({ accountIds: [] }), 'policies[0].accountIds'],
      ['a misspelt key', aPolicyItem({ limitations: null }), 'policies[0].limitations'],
    ];
    await expectAllRefused(api.http, org, [
      ...items.map(([name, item, field]): BadRequest => [name, MIXED, { policies: [item] }, field]),
      [
        'the later of two',
        ADD,
        { policies: [approvers(own.group, 2), approvers(own.group, 3)] },
        'policies[1].approverSetting.threshold',
      ],
      ['an id of a new one', ADD, { policies: [aPolicyItem({ id: own.policy })] }, 'policies[0].id'],
      ['no id of one that is there', CHANGE, { policies: [aPolicyItem()] }, 'policies[0].id'],
      ['no policies', MIXED, { policies: [] }, 'policies'],
      ['nothing to remove', REMOVE, { policyIds: [] }, 'policyIds'],
      ['an account to remove', REMOVE, { policyIds: [own.account] }, 'policyIds[0]'],
      ['a policy to remove twice', REMOVE, { policyIds: [own.policy, own.policy] }, 'policyIds[1]'],
    ]);
  });

  it('cannot be proposed with a key of a member who is not an admin', async () => {
    await expectRefused(
      api.http,
      org,
      { key: org.readKey, path: `/api/v1${MIXED}`, body: { policies: [aPolicyItem()] } },
      refusal(403, 'forbidden', null),
    );
  });
});
