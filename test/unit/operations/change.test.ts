import { deriveAdminsSafe } from '../../../src/chain/adminsSafe';
import { deriveAccount } from '../../../src/chain/safeAccount';
import type { MemberSummary } from '../../../src/domain/approval';
import type { JsonValue } from '../../../src/domain/canonicalJson';
import { findResource, type OrganizationState } from '../../../src/domain/governance';
import { type Policy, policyView } from '../../../src/domain/policy';
import type { ProposalAction, ResourceType } from '../../../src/domain/proposal';
import { operationKindOf, operations } from '../../../src/operations';
import { changeState } from '../../../src/operations/change';
import { rules } from '../../../src/operations/rules';
import { aMember, anAddress, anId, aState } from '../../support/builders';
import { valuesIn, withValue } from '../../support/leaves';
import { aCallPolicy, aPolicy, aRule, aTransferPolicy } from '../../support/transactions';

const bot = aMember().bot().named('Bot').build();
const ada = aMember().named('Ada').build();
const bo = aMember().named('Bo').build();
const groupId = anId('grp');
const accountId = anId('acc');
const { id: policyId, ...definition } = aPolicy({ name: 'Payroll' });

/** The bot is the only admin; Ada and Bo are in a group; each of these was changed by the third decision. */
const first = aState([bot, ada, bo], { sequence: 5 });
const address = deriveAccount(first.signingKey, accountId).address;
const before: OrganizationState = {
  ...first,
  groups: {
    [groupId]: { id: groupId, name: 'Traders', memberIds: [ada.id, bo.id].sort(), revision: 3 },
  },
  policies: { [policyId]: { id: policyId, definition, revision: 3 } },
  accounts: { [accountId]: { id: accountId, name: 'Treasury', address, networkIds: [1], revision: 3 } },
};

const newGroup = anId('grp');
const newMember: MemberSummary = aMember().named('Chidi').build();
const newAccount = anId('acc');
const newPolicy = anId('pol');
const policyShown = (id: string, name: string, revision?: number) => ({
  id,
  ...(revision === undefined ? {} : { revision }),
  ...policyView({ ...definition, name }, []),
});
const shownGroup = { id: groupId, revision: 3, name: 'Traders', members: [ada, bo] };

/** Data of every kind that can be carried out on that state, with what it changes. */
const CASES: readonly [string, object, readonly string[]][] = [
  ['members/create', { items: [newMember] }, [`member ${newMember.id}`]],
  ['members/update', { items: [changed(bo, { name: 'Bob' })] }, [`member ${bo.id}`]],
  ['members/remove', { items: [{ ...bo, revision: 0 }] }, [`member ${bo.id}`, `group ${groupId}`]],
  ['groups/create', { items: [{ id: newGroup, name: 'New', memberIds: [bo.id] }] }, [`group ${newGroup}`]],
  ['groups/update', { items: [{ ...shownGroup, members: [bo] }] }, [`group ${groupId}`]],
  ['groups/delete', { items: [shownGroup] }, [`group ${groupId}`]],
  ['policies/create', { policies: [policyShown(newPolicy, 'New')] }, [`policy ${newPolicy}`]],
  ['policies/update', { policies: [policyShown(policyId, 'Other', 3)] }, [`policy ${policyId}`]],
  ['policies/remove', { policies: [policyShown(policyId, 'Payroll', 3)] }, [`policy ${policyId}`]],
  [
    'accounts/create',
    {
      items: [
        {
          id: newAccount,
          name: 'New',
          address: deriveAccount(first.signingKey, newAccount).address,
          networkIds: [2, 1],
        },
      ],
    },
    [`account ${newAccount}`],
  ],
  ['accounts/update', { items: [{ id: accountId, revision: 3, networkIds: [2] }] }, [`account ${accountId}`]],
  ['admins/update', { revision: 0, members: [bot, ada], threshold: 2 }, [`admin ${first.admins.id}`]],
];

function changed({ type: _, ...member }: MemberSummary, change: Partial<MemberSummary>, revision = 0) {
  return { ...member, ...change, revision };
}

function kind(of: string) {
  const [resourceType, action] = of.split('/') as [ResourceType, ProposalAction];
  return operationKindOf(resourceType, action);
}

const change = (of: string, state: OrganizationState, data: object) =>
  changeState(kind(of), state, data as JsonValue);

function made(of: string, state: OrganizationState, data: object) {
  const outcome = change(of, state, data);
  if (!outcome.ok) throw new Error(outcome.refusal.message);
  return outcome.value;
}

const conflict = (message: string | RegExp = /./) => ({
  ok: false,
  refusal: expect.objectContaining({ code: 'conflict', message: expect.stringMatching(message) }),
});

/** The sixth decision is about something else. */
const unrelated = made('groups/create', before, {
  items: [{ id: anId('grp'), name: 'X', memberIds: [] }],
}).state;

describe("a wallet of the organization's own", () => {
  const { keeper, safe } = deriveAdminsSafe(before);
  const onChain = { ...before, admins: { ...before.admins, onChain: true as const } };
  const moved = (walletAddress: string) => ({ items: [changed(bo, { walletAddress })] });

  test.each([
    ['the admins own', safe.address, "the admins' Safe"],
    ['keeps it', keeper.address, "the keeper of the admins' Safe"],
    ['is an account', address, `account ${accountId}`],
  ])('that %s is the wallet of no member', (_, wallet, what) => {
    const refused = conflict(`${wallet}, the wallet of member ${bo.id}, is ${what} of this organization`);
    expect(change('members/update', onChain, moved(wallet))).toEqual(refused);
    const { state } = made('members/update', before, moved(wallet));
    const shown = { ...bo, walletAddress: wallet };
    const on = { revision: 0, members: [bot, shown], threshold: 1, onChain: true };
    expect(change('admins/update', state, on)).toEqual(refused);
  });

  test("is one in an organization without an admins' Safe: it signs as a contract", () => {
    expect(made('members/update', before, moved(address)).changes).toHaveLength(1);
  });
});

test('every kind has data here', () => {
  expect(CASES.map(([of]) => of).sort()).toEqual(
    operations.map(({ resourceType, action }) => `${resourceType}/${action}`).sort(),
  );
});

test('the signer knows the rule of every kind', () => {
  expect(rules).toHaveLength(operations.length);
  for (const [i, rule] of rules.entries()) expect({ ...operations[i], ...rule }).toEqual(operations[i]);
});

describe.each(CASES)('the change of %s', (of, data, touched) => {
  it('depends on nothing but the state and the data, and changes neither', () => {
    const texts = JSON.stringify([before, data]);
    const { state, changes } = made(of, before, data);
    expect(changes.map(({ type, id }) => `${type} ${id}`).sort()).toEqual([...touched].sort());
    expect(state.sequence).toBe(before.sequence + 1);
    for (const { type, id, after } of changes)
      expect(findResource(state, type, id)).toEqual(after ?? undefined);
    expect(JSON.stringify([before, data])).toBe(texts);
    const [stored, signed] = JSON.parse(texts);
    expect(made(of, stored, signed)).toEqual({ state, changes });
  });

  it('is the same after an unrelated decision', () => {
    const { changes } = made(of, before, data);
    const later = made(of, unrelated, data).changes;
    const contents = (all: typeof changes) =>
      all.map(({ before: had, after }) => [had, after && { ...after, revision: 0 }]);
    expect(contents(later)).toEqual(contents(changes));
  });

  it('is refused a second time', () => {
    const { state } = made(of, before, data);
    expect(change(of, state, data)).toEqual(conflict());
  });

  it('is refused for data of another shape', () => {
    for (const wrong of [
      {},
      { items: 1 },
      { items: [{}] },
      { policies: [{ id: policyId }] },
      { members: [] },
    ]) {
      expect(change(of, before, wrong)).toEqual(conflict('unreadable'));
    }
  });

  it('is refused for data with a field that nobody reads, anywhere in it', () => {
    expect(decoysIn(data).length).toBeGreaterThan(0);
    for (const decoy of decoysIn(data)) {
      expect(change(of, before, decoy)).toEqual(conflict('has fields that do not belong to it'));
    }
  });
});

/** The data with one more field, once in each of its objects. */
function decoysIn(data: object): object[] {
  const plain = JSON.parse(JSON.stringify(data));
  return [...valuesIn(plain)]
    .filter(([, value]) => typeof value === 'object' && value !== null && !Array.isArray(value))
    .map(([path]) => withValue(plain, [...path, 'memberIdsOfOthers'], []));
}

describe('a policy with every condition and setting', () => {
  const rule = {
    ...aRule(anAddress()),
    allowedFunctions: ['mint(address,uint256)'],
    functions: [{ name: 'mint', selector: '0x40c10f19' }],
  };
  const settings = {
    initiatorSetting: { type: 'user' as const, memberId: ada.id },
    type: 'MANUAL_APPROVAL' as const,
    approverSetting: { type: 'group' as const, groupId, threshold: 1, excludeInitiator: true },
    accountIds: [accountId],
  };
  const shown = (policy: Policy) => policyView(policy, [{ id: accountId, name: 'Treasury', address }]);

  it.each([
    ['calls', aCallPolicy([rule], settings)],
    ['transfers', aTransferPolicy({}, settings)],
  ])('is refused with a field that nobody reads, and taken without: %s', (_, policy) => {
    const data = { policies: [shown(policy)] };
    expect(change('policies/create', before, data)).toMatchObject({ ok: true });
    for (const decoy of decoysIn(data)) {
      expect(change('policies/create', before, decoy)).toEqual(conflict('fields that do not belong to it'));
    }
  });

  const lying = (lie: object) =>
    change('policies/create', before, {
      policies: [{ ...shown(aCallPolicy([rule], settings)), ...lie }],
    });

  it.each<[string, object]>([
    ['another name', { name: 'Safe' }],
    ['another address', { address: anAddress() }],
    ['another id', { id: anId('acc') }],
  ])('is refused with %s of an account', (_, lie) => {
    const accounts = [{ id: accountId, name: 'Treasury', address, ...lie }];
    expect(lying({ accounts })).toEqual(conflict(/account acc_\w+ is not "/));
  });

  it('is refused without its accounts, or with another user than member', () => {
    expect(lying({ accounts: [] })).toEqual(conflict('otherwise than it is'));
    const initiatorSetting = { type: 'user', memberId: ada.id, userId: bo.id };
    expect(lying({ initiatorSetting })).toEqual(conflict('otherwise than it is'));
  });

  it.each<[string, object]>([
    ['another selector', { functions: [{ name: 'mint', selector: '0x095ea7b3' }] }],
    ['another name', { functions: [{ name: 'transfer', selector: '0x40c10f19' }] }],
    ['no name', { functions: [{ selector: '0x40c10f19' }] }],
    ['no function', { functions: [] }],
    ['one more', { functions: [...rule.functions, { name: 'approve', selector: '0x095ea7b3' }] }],
    ['what is not a function', { allowedFunctions: ['mint'] }],
    [
      'another name for a selector',
      { allowedFunctions: ['0x095ea7b3'], functions: [{ name: 'transfer', selector: '0x095ea7b3' }] },
    ],
  ])('is refused with %s among what it allows', (_, lie) => {
    expect(lying({ contractInteractionCondition: [{ ...rule, ...lie }] })).toEqual(
      conflict(`the functions of ${rule.contractAddress} are not those that it allows`),
    );
  });

  it('is taken without the name of a selector, which was not known when it was signed', () => {
    const unnamed = { allowedFunctions: ['0xD73DD623'], functions: [{ selector: '0xd73dd623' }] };
    expect(lying({ contractInteractionCondition: [{ ...rule, ...unnamed }] })).toMatchObject({ ok: true });
  });

  it('is refused with the approver of another type', () => {
    const { approverSetting: _, ...data } = shown(aTransferPolicy({}, settings));
    expect(change('policies/create', before, { policies: [data] })).toEqual(conflict('unreadable'));
  });
});

describe('what has been changed since it was proposed', () => {
  it.each(CASES.filter(([of]) => !of.endsWith('/create')))('refuses %s', (of, data, [key = '']) => {
    const [type = '', id = ''] = key.split(' ');
    const moved = JSON.parse(JSON.stringify(before));
    const resource = type === 'admin' ? moved.admins : moved[type === 'policy' ? 'policies' : `${type}s`][id];
    resource.revision = 6;
    expect(change(of, moved, data)).toEqual(conflict('has been changed since'));
  });

  it.each(['groups/update', 'groups/delete'])('includes, for %s, a member who left the group', (of) => {
    const { state } = made('members/remove', before, { items: [{ ...bo, revision: 0 }] });
    expect(state.groups[groupId]).toMatchObject({ memberIds: [ada.id], revision: 6 });
    const [, data = {}] = CASES.find(([name]) => name === of) ?? [];
    expect(change(of, state, data)).toEqual(conflict());
    expect(change(of, state, { items: [{ ...shownGroup, members: [ada], revision: 6 }] })).toMatchObject({
      ok: true,
    });
  });
});

describe('a resource that is there already', () => {
  it.each<[string, object]>([
    ['members/create', { items: [{ ...newMember, id: bo.id }] }],
    ['groups/create', { items: [{ id: groupId, name: 'New', memberIds: [] }] }],
    ['policies/create', { policies: [policyShown(policyId, 'New')] }],
    ['accounts/create', { items: [{ id: accountId, name: 'New', address, networkIds: [2] }] }],
  ])('is not replaced by %s', (of, data) => {
    expect(change(of, before, data)).toEqual(conflict());
  });
});

describe('a wallet that somebody has', () => {
  it('refuses new members, all of them', () => {
    const items = [newMember, { ...aMember().build(), walletAddress: ada.walletAddress.toLowerCase() }];
    expect(change('members/create', before, { items })).toEqual(conflict('is the wallet of member "Ada"'));
  });

  it('refuses a change of wallets, unless its owner gives it up', () => {
    const toBo = changed(bo, { walletAddress: ada.walletAddress });
    expect(change('members/update', before, { items: [toBo] })).toEqual(conflict('is the wallet of'));
    const kept = [changed(ada, { name: 'Eva' }), toBo];
    expect(change('members/update', before, { items: kept })).toEqual(conflict('is the wallet of'));
    const exchanged = [changed(ada, { walletAddress: bo.walletAddress }), toBo];
    expect(made('members/update', before, { items: exchanged }).state.members[bo.id]?.walletAddress).toBe(
      ada.walletAddress,
    );
  });

  it('cannot be in one proposal twice', () => {
    const items = [newMember, { ...aMember().build(), walletAddress: newMember.walletAddress }];
    expect(change('members/create', before, { items })).toEqual(conflict('would be the wallet of'));
  });
});

describe('who decides', () => {
  it('cannot leave the organization', () => {
    expect(change('members/remove', before, { items: [{ ...bot, revision: 0 }] })).toEqual(
      conflict('is an admin'),
    );
  });

  it('cannot become somebody with another wallet than was shown', () => {
    const moved = made('members/update', before, {
      items: [changed(ada, { walletAddress: anAddress() })],
    }).state;
    expect(change('admins/update', moved, { revision: 0, members: [bot, ada], threshold: 2 })).toEqual(
      conflict('now has the wallet'),
    );
  });

  it.each<[string, Partial<MemberSummary>, string]>([
    ['another name', { name: 'Bo' }, 'is shown as "Bo", of type user'],
    ['another type', { type: 'api' }, 'is shown as "Ada", of type api'],
    ['another kind of wallet', { walletKind: 'contract' }, 'now has the wallet'],
    ['another wallet', { walletAddress: anAddress() }, 'now has the wallet'],
  ])('cannot become somebody who is shown with %s', (_, lie, message) => {
    const members = [bot, { ...ada, ...lie }];
    expect(change('admins/update', before, { revision: 0, members, threshold: 2 })).toEqual(
      conflict(message),
    );
    const items = [{ ...shownGroup, members: [{ ...ada, ...lie }, bo] }];
    for (const operation of ['groups/update', 'groups/delete'])
      expect(change(operation, before, { items })).toEqual(conflict(message));
    const leaving = { items: [{ ...ada, ...lie, revision: 0 }] };
    expect(change('members/remove', before, leaving)).toEqual(conflict(message));
  });

  it('is not shown with the time at which they joined: nobody has decided that', () => {
    const members = [bot, { ...ada, createdAt: '2026-01-01T00:00:00.000Z' }];
    expect(change('admins/update', before, { revision: 0, members, threshold: 2 })).toEqual(conflict());
  });

  it('is named once', () => {
    const members = [bot, bot];
    expect(change('admins/update', before, { revision: 0, members, threshold: 2 })).toEqual(
      conflict('named twice'),
    );
    const items = [{ ...shownGroup, members: [ada, ada] }];
    expect(change('groups/update', before, { items })).toEqual(conflict('named twice'));
    const twice = [changed(ada, { name: 'Eva' }), changed(ada, { name: 'Eve' })];
    expect(change('members/update', before, { items: twice })).toEqual(conflict('would change twice'));
  });

  it.each([
    ['nobody of type api', [ada], 1, 'type api'],
    ['fewer than the threshold', [bot, ada], 3, 'cannot reach'],
    ['a stranger', [bot, newMember], 1, 'has left'],
  ])('cannot become %s', (_, members, threshold, message) => {
    expect(change('admins/update', before, { revision: 0, members, threshold })).toEqual(conflict(message));
  });
});

describe('what is deleted', () => {
  it('is a group of those who are shown, by the name that is shown', () => {
    for (const lie of [{ name: 'Nobody' }, { members: [ada] }]) {
      expect(change('groups/delete', before, { items: [{ ...shownGroup, ...lie }] })).toEqual(
        conflict('not as it is shown'),
      );
    }
  });

  it('is a policy that permits what is shown', () => {
    for (const lie of [{ name: 'Other' }, { networkId: 7 }, { type: 'MANUAL_APPROVAL' }]) {
      const policies = [{ ...policyShown(policyId, 'Payroll', 3), ...lie }];
      expect(change('policies/remove', before, { policies })).toEqual(conflict());
    }
  });
});

describe('an account', () => {
  it('is at the address that its id and the key of the organization give', () => {
    const items = [{ id: newAccount, name: 'New', address: anAddress(), networkIds: [1] }];
    expect(change('accounts/create', before, { items })).toEqual(conflict('would not have the address'));
  });

  it('keeps the networks that it is on', () => {
    const items = [{ id: accountId, revision: 3, networkIds: [7, 1] }];
    expect(made('accounts/update', before, { items }).state.accounts[accountId]?.networkIds).toEqual([1, 7]);
  });
});
