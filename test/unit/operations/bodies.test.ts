import { adminsUpdateBody } from '../../../src/contract/adminChanges';
import { groupsCreateBody, groupsDeleteBody, groupsUpdateBody } from '../../../src/contract/groupChanges';
import { describeIssue, fieldIssues } from '../../../src/contract/issues';
import { membersCreateBody, membersRemoveBody, membersUpdateBody } from '../../../src/contract/memberChanges';
import { anAddress, anId } from '../../support/builders';

const BODIES = {
  membersCreate: membersCreateBody,
  membersUpdate: membersUpdateBody,
  membersRemove: membersRemoveBody,
  groupsCreate: groupsCreateBody,
  groupsUpdate: groupsUpdateBody,
  groupsDelete: groupsDeleteBody,
  adminsUpdate: adminsUpdateBody,
};
type Kind = keyof typeof BODIES;

function fieldsOf(kind: Kind, body: unknown): string[] {
  const parsed = BODIES[kind].safeParse(body, { error: describeIssue });
  return parsed.success ? [] : fieldIssues(parsed.error).map(({ field }) => field);
}

const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const WRONG_CHECKSUM = ADDRESS.replace('dc3A', 'Dc3A');
const ZERO = `0x${'0'.repeat(40)}`;
const [MEMBER, OTHER_MEMBER] = [anId('mem'), anId('mem')];
const [GROUP, OTHER_GROUP] = [anId('grp'), anId('grp')];
const many = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, i) => make(i));
const times = { createdAt: 'then', updatedAt: 'now' };
const member = (change: object = {}) => ({ name: 'Dave', walletAddress: anAddress(), ...change });
const update = (change: object = {}) => ({ action: 'addMember', id: MEMBER, ...change });

describe('what the bodies about members, groups and admins become', () => {
  it.each<[string, Kind, unknown, unknown]>([
    [
      'a member is a bot unless it is told otherwise, and its address gets its checksum',
      'membersCreate',
      { items: [{ name: 'Dave', walletAddress: ADDRESS.toLowerCase() }] },
      { items: [{ name: 'Dave', walletAddress: ADDRESS, type: 'api', walletKind: 'key' }] },
    ],
    [
      'an address may be all upper case',
      'membersUpdate',
      { items: [{ id: MEMBER, walletAddress: `0x${ADDRESS.slice(2).toUpperCase()}` }] },
      { items: [{ id: MEMBER, walletAddress: ADDRESS }] },
    ],
    [
      'the wallet of a member may become a contract',
      'membersUpdate',
      { items: [{ id: MEMBER, walletKind: 'contract' }] },
      { items: [{ id: MEMBER, walletKind: 'contract' }] },
    ],
    [
      'what was read of a member can be sent back',
      'membersUpdate',
      {
        items: [
          { id: MEMBER, name: 'D', walletAddress: ADDRESS, type: 'user', registeredAt: null, ...times },
        ],
      },
      { items: [{ id: MEMBER, name: 'D', walletAddress: ADDRESS, type: 'user' }] },
    ],
    [
      'what was read of a member can be proposed',
      'membersCreate',
      {
        items: [
          {
            ...{ name: 'D', walletAddress: ADDRESS, type: 'user', walletKind: 'contract' },
            ...{ registeredAt: null, ...times },
          },
        ],
      },
      { items: [{ name: 'D', walletAddress: ADDRESS, type: 'user', walletKind: 'contract' }] },
    ],
    [
      'a group may be empty',
      'groupsCreate',
      { items: [{ name: 'Nobody', memberIds: [], members: [], ...times }] },
      { items: [{ name: 'Nobody', memberIds: [] }] },
    ],
    [
      'what was read of a group can be sent back',
      'groupsUpdate',
      { items: [{ id: GROUP, name: 'G', members: [], ...times }] },
      { items: [{ id: GROUP, name: 'G' }] },
    ],
    [
      'what was read of a group can be sent to delete it',
      'groupsDelete',
      { items: [{ id: GROUP, name: 'G', members: [], ...times }] },
      { items: [{ id: GROUP }] },
    ],
    [
      'the admins may change by their threshold only',
      'adminsUpdate',
      { id: anId('adm'), members: [], updates: [], threshold: 3 },
      { updates: [], threshold: 3 },
    ],
    [
      "what was read of the admins' Safe as well",
      'adminsUpdate',
      { updates: [], threshold: 3, onChain: { enabled: false, safe: anAddress() } },
      { updates: [], threshold: 3, onChain: false },
    ],
  ])('%s', (_, kind, body, expected) => {
    expect(BODIES[kind].parse(body)).toEqual(expected);
  });

  it('are the same when they are read again', () => {
    const body = membersCreateBody.parse({ items: [member(), member({ type: 'user' })] });
    expect(membersCreateBody.parse(body)).toEqual(body);
  });
});

describe('a body about members, groups or admins', () => {
  it.each<[string, Kind, unknown, string]>([
    ...(['membersCreate', 'membersUpdate', 'groupsCreate', 'groupsUpdate', 'groupsDelete'] as const).flatMap(
      (kind): [string, Kind, unknown, string][] => [
        ['no items', kind, {}, 'items'],
        ['an empty list', kind, { items: [] }, 'items'],
        ['an item that is a text', kind, { items: ['x'] }, 'items[0]'],
        ['a body that is a list', kind, [], 'body'],
        ['null', kind, null, 'body'],
      ],
    ),
    ['no ids', 'membersRemove', {}, 'ids'],
    ['an empty list', 'membersRemove', { ids: [] }, 'ids'],
    ['101 ids', 'membersRemove', { ids: many(101, () => anId('mem')) }, 'ids'],
    ['an id twice', 'membersRemove', { ids: [MEMBER, OTHER_MEMBER, MEMBER] }, 'ids[2]'],
    ['an id of another kind', 'membersRemove', { ids: [GROUP] }, 'ids[0]'],
    ['an id that is a number', 'membersRemove', { ids: [1] }, 'ids[0]'],
    ['an unknown key', 'membersRemove', { ids: [MEMBER], items: [] }, 'items'],

    ['101 members', 'membersCreate', { items: many(101, () => member()) }, 'items'],
    ['no name', 'membersCreate', { items: [member({ name: undefined })] }, 'items[0].name'],
    [
      'a name of 101 characters',
      'membersCreate',
      { items: [member({ name: 'x'.repeat(101) })] },
      'items[0].name',
    ],
    [
      'a name that turns text round',
      'membersCreate',
      { items: [member({ name: 'a\u202eb' })] },
      'items[0].name',
    ],
    ['no address', 'membersCreate', { items: [{ name: 'Dave' }] }, 'items[0].walletAddress'],
    [
      'the zero address',
      'membersCreate',
      { items: [member({ walletAddress: ZERO })] },
      'items[0].walletAddress',
    ],
    [
      'a wrong checksum',
      'membersCreate',
      { items: [member(), member({ walletAddress: WRONG_CHECKSUM })] },
      'items[1].walletAddress',
    ],
    [
      '39 digits',
      'membersCreate',
      { items: [member({ walletAddress: ADDRESS.slice(0, -1) })] },
      'items[0].walletAddress',
    ],
    [
      'an address that is a number',
      'membersCreate',
      { items: [member({ walletAddress: 1 })] },
      'items[0].walletAddress',
    ],
    [
      'no prefix',
      'membersCreate',
      { items: [member({ walletAddress: ADDRESS.slice(2) })] },
      'items[0].walletAddress',
    ],
    ['an unknown type', 'membersCreate', { items: [member({ type: 'bot' })] }, 'items[0].type'],
    ['an unknown key', 'membersCreate', { items: [member({ admin: true })] }, 'items[0].admin'],
    ['an id', 'membersCreate', { items: [member({ id: MEMBER })] }, 'items[0].id'],
    [
      'one address in two cases',
      'membersCreate',
      {
        items: [
          member({ walletAddress: ADDRESS }),
          member(),
          member({ walletAddress: ADDRESS.toLowerCase() }),
        ],
      },
      'items[2].walletAddress',
    ],

    ['no id', 'membersUpdate', { items: [{ name: 'x' }] }, 'items[0].id'],
    ['an id that is none', 'membersUpdate', { items: [{ id: 'mem_1', name: 'x' }] }, 'items[0].id'],
    [
      'a member twice',
      'membersUpdate',
      {
        items: [
          { id: MEMBER, name: 'a' },
          { id: MEMBER, name: 'b' },
        ],
      },
      'items[1].id',
    ],
    [
      'one address for two members',
      'membersUpdate',
      {
        items: [
          { id: MEMBER, walletAddress: ADDRESS },
          { id: OTHER_MEMBER, walletAddress: ADDRESS.toLowerCase() },
        ],
      },
      'items[1].walletAddress',
    ],
    [
      'the zero address',
      'membersUpdate',
      { items: [{ id: MEMBER, walletAddress: ZERO }] },
      'items[0].walletAddress',
    ],
    ['null for a name', 'membersUpdate', { items: [{ id: MEMBER, name: null }] }, 'items[0].name'],

    ['no members', 'groupsCreate', { items: [{ name: 'G' }] }, 'items[0].memberIds'],
    ['null for members', 'groupsCreate', { items: [{ name: 'G', memberIds: null }] }, 'items[0].memberIds'],
    [
      'a member twice',
      'groupsCreate',
      { items: [{ name: 'G', memberIds: [MEMBER, MEMBER] }] },
      'items[0].memberIds[1]',
    ],
    [
      '101 members',
      'groupsCreate',
      { items: [{ name: 'G', memberIds: many(101, () => anId('mem')) }] },
      'items[0].memberIds',
    ],
    [
      'an id that is none',
      'groupsCreate',
      { items: [{ name: 'G', memberIds: ['x'] }] },
      'items[0].memberIds[0]',
    ],
    [
      'one group twice',
      'groupsCreate',
      {
        items: [
          { name: 'G', memberIds: [MEMBER, OTHER_MEMBER] },
          { name: 'G', memberIds: [MEMBER] },
          { name: 'G', memberIds: [OTHER_MEMBER, MEMBER] },
        ],
      },
      'items[2]',
    ],
    [
      'an unknown key',
      'groupsCreate',
      { items: [{ name: 'G', memberIds: [], memberId: '' }] },
      'items[0].memberId',
    ],

    [
      'an unknown action',
      'groupsUpdate',
      { items: [{ id: GROUP, memberUpdates: [update({ action: 'add' })] }] },
      'items[0].memberUpdates[0].action',
    ],
    [
      'no action',
      'groupsUpdate',
      { items: [{ id: GROUP, memberUpdates: [{ id: MEMBER }] }] },
      'items[0].memberUpdates[0].action',
    ],
    [
      'a member added and taken out',
      'groupsUpdate',
      { items: [{ id: GROUP, memberUpdates: [update(), update({ action: 'removeMember' })] }] },
      'items[0].memberUpdates[1].id',
    ],
    [
      'an unknown key in a change',
      'groupsUpdate',
      { items: [{ id: GROUP, memberUpdates: [update({ memberId: MEMBER })] }] },
      'items[0].memberUpdates[0].memberId',
    ],
    [
      'a group twice',
      'groupsUpdate',
      {
        items: [
          { id: GROUP, name: 'a' },
          { id: OTHER_GROUP, name: 'a' },
          { id: GROUP, name: 'b' },
        ],
      },
      'items[2].id',
    ],
    ['a group twice', 'groupsDelete', { items: [{ id: GROUP }, { id: GROUP }] }, 'items[1].id'],
    ['an unknown key', 'groupsDelete', { items: [{ id: GROUP, force: true }] }, 'items[0].force'],

    ['no updates', 'adminsUpdate', { threshold: 1 }, 'updates'],
    ['no threshold', 'adminsUpdate', { updates: [] }, 'threshold'],
    ['a threshold of 0', 'adminsUpdate', { updates: [], threshold: 0 }, 'threshold'],
    ['a negative threshold', 'adminsUpdate', { updates: [], threshold: -1 }, 'threshold'],
    ['a fraction of a threshold', 'adminsUpdate', { updates: [], threshold: 1.5 }, 'threshold'],
    ['a threshold that is a text', 'adminsUpdate', { updates: [], threshold: '2' }, 'threshold'],
    ['a huge threshold', 'adminsUpdate', { updates: [], threshold: 1e300 }, 'threshold'],
    ['a member twice', 'adminsUpdate', { updates: [update(), update()], threshold: 1 }, 'updates[1].id'],
    [
      'an unknown action',
      'adminsUpdate',
      { updates: [update({ action: 'add' })], threshold: 1 },
      'updates[0].action',
    ],
    [
      'an id of another kind',
      'adminsUpdate',
      { updates: [update({ id: GROUP })], threshold: 1 },
      'updates[0].id',
    ],
    [
      '101 updates',
      'adminsUpdate',
      { updates: many(101, () => update({ id: anId('mem') })), threshold: 1 },
      'updates',
    ],
    ['an unknown key', 'adminsUpdate', { updates: [], threshold: 1, admins: [] }, 'admins'],
  ])('refuses %s (%s)', (_, kind, body, field) => {
    expect(fieldsOf(kind, body)).toEqual([field]);
  });

  it('takes 100 items', () => {
    expect(fieldsOf('membersCreate', { items: many(100, () => member()) })).toEqual([]);
    expect(fieldsOf('membersRemove', { ids: many(100, () => anId('mem')) })).toEqual([]);
    expect(
      fieldsOf('groupsCreate', { items: [{ name: 'G', memberIds: many(100, () => anId('mem')) }] }),
    ).toEqual([]);
  });
});
