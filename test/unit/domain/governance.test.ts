import fc from 'fast-check';
import {
  applyEdits,
  checkState,
  type Edit,
  expectRevision,
  findExcess,
  findResource,
  MAX_RESOURCES,
  type OrganizationState,
  withResources,
} from '../../../src/domain/governance';
import { aMember, anAddress, anId, aState } from '../../support/builders';
import { aPolicy } from '../../support/transactions';

const bot = aMember().bot().build();
const people = Array.from({ length: 5 }, () => aMember().build());
const members = [bot, ...people];
const groupIds = [anId('grp'), anId('grp'), anId('grp')];
const policyIds = [anId('pol'), anId('pol')];
const accountIds = [anId('acc'), anId('acc')];

/** Fails on any write to it. */
function frozen<T>(value: T): T {
  if (value !== null && typeof value === 'object') {
    Object.values(value).forEach(frozen);
    Object.freeze(value);
  }
  return value;
}

/** The bot and the first person are admins, in the first group are the last two persons. */
function state(change: Partial<OrganizationState> = {}): OrganizationState {
  const inGroup = people
    .slice(3)
    .map(({ id }) => id)
    .sort();
  const [groupId = ''] = groupIds;
  const first = aState(members, {
    groups: { [groupId]: { id: groupId, name: 'Group', memberIds: inGroup, revision: 0 } },
    ...change,
  });
  const admins = { ...first.admins, memberIds: members.slice(0, 2).map(({ id }) => id), threshold: 2 };
  return frozen({ ...first, admins, ...change });
}

const conflict = (message: string) => ({
  ok: false,
  refusal: { code: 'conflict', message: expect.stringContaining(message) },
});

/** Edits of different resources, each of which may be made alone: a name begins with the resource that has it. */
const name = fc.string({ minLength: 1, maxLength: 8 });
const edits: fc.Arbitrary<Edit[]> = fc
  .record({
    renamed: fc.subarray(people, { maxLength: 3 }),
    names: fc.array(name, { minLength: 3, maxLength: 3 }),
    groups: fc.subarray(groupIds),
    inGroups: fc.subarray(members),
    policies: fc.subarray(policyIds),
    accounts: fc.subarray(accountIds),
    threshold: fc.option(fc.integer({ min: 1, max: 2 })),
  })
  .map(({ renamed, names, groups, inGroups, policies, accounts, threshold }): Edit[] => [
    ...renamed.map((member, i): Edit => {
      const after = { ...member, name: `${member.id} ${names[i]}` };
      return { type: 'member', id: member.id, after };
    }),
    ...groups.map((id, i): Edit => {
      const memberIds = inGroups.map((member) => member.id).sort();
      return { type: 'group', id, after: i === 1 ? null : { id, name: `${id} ${names[i]}`, memberIds } };
    }),
    ...policies.map((id): Edit => {
      const { id: _, ...definition } = aPolicy({ name: `${id} ${names[0]}` });
      return { type: 'policy', id, after: { id, definition } };
    }),
    ...accounts.map((id): Edit => {
      const after = { id, name: `${id} ${names[1]}`, address: anAddress(), networkIds: [1, 2] };
      return { type: 'account', id, after };
    }),
    ...(threshold === null
      ? []
      : [
          {
            type: 'admin' as const,
            id: admins.id,
            after: { id: admins.id, memberIds: members.slice(0, 2).map(({ id }) => id), threshold },
          },
        ]),
  ]);
const before = state();
const { admins } = before;

function applied(to: OrganizationState, of: readonly Edit[]) {
  const outcome = applyEdits(to, of);
  if (!outcome.ok) throw new Error(outcome.refusal.message);
  return outcome.value;
}

describe('the edits of a decision', () => {
  it('make a new state and leave the old one as it was', () => {
    fc.assert(
      fc.property(edits, (of) => {
        const text = JSON.stringify(before);
        const { state: after } = applied(before, frozen(of));
        expect(JSON.stringify(before)).toBe(text);
        expect(after).not.toBe(before);
        expect(applied(before, of).state).toEqual(after);
      }),
    );
  });

  it('give what they touch the number of the decision, and nothing else', () => {
    fc.assert(
      fc.property(edits, (of) => {
        const { state: after } = applied(before, of);
        expect(after.sequence).toBe(before.sequence + 1);
        const touched = new Map(of.map(({ type, id, after: content }) => [`${type} ${id}`, content]));
        const keys = new Set([...idsOf(before), ...idsOf(after)]);
        for (const key of keys) {
          const [type, id] = key.split(' ') as ['member', string];
          const now = findResource(after, type, id);
          if (!touched.has(key)) expect(now).toBe(findResource(before, type, id));
          else if (touched.get(key) === null) expect(now).toBeUndefined();
          else expect(now).toEqual({ ...touched.get(key), revision: after.sequence });
        }
        const { sequence: _, members: __, groups: ___, policies: ____, accounts, ...others } = after;
        expect(others).toMatchObject({ domainSalt: before.domainSalt, sealKey: before.sealKey });
      }),
    );
  });

  it('come to the same in any order', () => {
    fc.assert(
      fc.property(edits, edits, (of, order) => {
        const shuffled = [...of].sort(
          (one, two) =>
            order.findIndex(({ id }) => id === one.id) - order.findIndex(({ id }) => id === two.id),
        );
        expect(applied(before, shuffled).state).toEqual(applied(before, of).state);
        expect(applied(before, [...of].reverse()).state).toEqual(applied(before, of).state);
      }),
    );
  });

  it('are shown as changes that come to the same state', () => {
    fc.assert(
      fc.property(edits, edits, (one, two) => {
        const first = applied(before, one);
        const second = applied(first.state, two);
        const shown = JSON.parse(JSON.stringify([first.changes, second.changes]));
        const replayed = withResources(withResources(before, 1, shown[0]), 2, shown[1]);
        expect(replayed).toEqual(second.state);
        for (const { type, id, before: had, after } of second.changes) {
          expect(had).toBe(findResource(first.state, type, id) ?? null);
          expect(after).toEqual(findResource(second.state, type, id) ?? null);
        }
      }),
    );
  });
});

function idsOf({ members: of, groups, policies, accounts, admins: { id } }: OrganizationState): string[] {
  return [
    ...Object.keys(of).map((key) => `member ${key}`),
    ...Object.keys(groups).map((key) => `group ${key}`),
    ...Object.keys(policies).map((key) => `policy ${key}`),
    ...Object.keys(accounts).map((key) => `account ${key}`),
    `admin ${id}`,
  ];
}

describe('a state that must not be', () => {
  const [ada, bo] = people as [(typeof people)[0], (typeof people)[0]];
  const adminEdit = (memberIds: readonly string[], threshold: number): Edit => ({
    type: 'admin',
    id: admins.id,
    after: { id: admins.id, memberIds, threshold },
  });

  it.each<[string, Edit, string]>([
    ['an admin who is not a member', { type: 'member', id: bot.id, after: null }, bot.id],
    ['an admin who never was one', adminEdit([bot.id, anId('mem')], 1), 'is not a member'],
    ['a threshold of none', adminEdit([bot.id, ada.id], 0), 'threshold of 0'],
    ['a threshold that is out of reach', adminEdit([bot.id, ada.id], 3), '2 admins cannot reach'],
    ['no admin', adminEdit([], 1), '0 admins cannot reach'],
    ['no admin of type api', adminEdit([ada.id], 1), 'of type api'],
    [
      'one wallet of two members, in any case',
      { type: 'member', id: bo.id, after: { ...bo, walletAddress: ada.walletAddress.toLowerCase() } },
      'would be the wallet of',
    ],
    [
      'one name of two members, in another case and form',
      { type: 'member', id: bo.id, after: { ...bo, name: ` ${ada.name.toUpperCase().replace('A', 'Ａ')}` } },
      `would be the name of member ${ada.id} and member ${bo.id}`,
    ],
    [
      'one name of two groups',
      { type: 'group', id: groupIds[1] ?? '', after: { id: '', name: 'gro\u200bup', memberIds: [] } },
      'would be the name of group',
    ],
    [
      'a stranger in a group',
      { type: 'group', id: groupIds[1] ?? '', after: { id: '', name: 'G', memberIds: [anId('mem')] } },
      'is not in the organization',
    ],
    [
      'a group with a member who leaves',
      { type: 'member', id: people[4]?.id ?? '', after: null },
      'is not in the organization',
    ],
  ])('has %s', (_, edit, message) => {
    expect(applyEdits(before, [edit])).toEqual(conflict(message));
    expect(checkState(before)).toEqual({ ok: true, value: null });
  });

  it('is not one where members exchange wallets, or leave with their groups', () => {
    const exchanged: Edit[] = [
      { type: 'member', id: ada.id, after: { ...ada, walletAddress: bo.walletAddress } },
      { type: 'member', id: bo.id, after: { ...bo, walletAddress: ada.walletAddress } },
    ];
    expect(applied(before, exchanged).state.members[ada.id]?.walletAddress).toBe(bo.walletAddress);
    const [groupId = ''] = groupIds;
    const left: Edit[] = [
      { type: 'member', id: people[4]?.id ?? '', after: null },
      { type: 'group', id: groupId, after: { id: groupId, name: 'Group', memberIds: [people[3]?.id ?? ''] } },
    ];
    expect(applied(before, left).state.groups[groupId]?.memberIds).toEqual([people[3]?.id]);
  });
});

describe('the resources of a kind', () => {
  const accountsOf = (count: number, from = 0): Edit[] =>
    Array.from({ length: count }, (_, i): Edit => {
      const id = anId('acc');
      const after = { id, name: `Account ${from + i}`, address: anAddress(), networkIds: [1] };
      return { type: 'account', id, after };
    });
  const full = applied(before, accountsOf(MAX_RESOURCES)).state;
  const removal = (place: number): Edit => ({
    type: 'account',
    id: Object.keys(full.accounts)[place] ?? '',
    after: null,
  });

  it('are as many as an organization may have, and no more', () => {
    const more = accountsOf(1, MAX_RESOURCES);
    const message = `the organization would have ${MAX_RESOURCES + 1} accounts (expected at most ${MAX_RESOURCES})`;
    expect(applyEdits(full, more)).toEqual(conflict(message));
    expect(findExcess(full, more)?.place).toBe(0);
    expect(findExcess(before, accountsOf(MAX_RESOURCES + 2))?.place).toBe(MAX_RESOURCES);
    expect(findExcess(full, [removal(0), ...accountsOf(2, MAX_RESOURCES)])?.place).toBe(2);
  });

  it('can be replaced, and become fewer, also where there are too many', () => {
    const exchanged = applied(full, [removal(0), ...accountsOf(1, MAX_RESOURCES)]).state;
    expect(Object.keys(exchanged.accounts)).toHaveLength(MAX_RESOURCES);
    const changes = accountsOf(2, MAX_RESOURCES).map((edit) => ({ ...edit, before: null })) as never;
    const tooMany = withResources(full, 1, changes);
    expect(Object.keys(applied(tooMany, [removal(0)]).state.accounts)).toHaveLength(MAX_RESOURCES + 1);
    expect(Object.keys(applied(tooMany, [removal(0), ...accountsOf(1, 2_000)]).state.accounts)).toHaveLength(
      MAX_RESOURCES + 2,
    );
  });
});

describe('a resource of a state', () => {
  it.each(['__proto__', 'constructor', 'toString', ''])('is not found by the id "%s"', (id) => {
    for (const type of ['member', 'group', 'policy', 'account', 'admin'] as const) {
      expect(findResource(before, type, id)).toBeUndefined();
    }
  });

  it('is found by its own type alone', () => {
    expect(findResource(before, 'group', bot.id)).toBeUndefined();
    expect(findResource(before, 'admin', bot.id)).toBeUndefined();
    expect(findResource(before, 'admin', admins.id)).toBe(admins);
  });

  it('is as it was signed only with the same revision', () => {
    const { id } = bot;
    expect(expectRevision(before, 'member', { id, revision: 0 }, 'member')).toMatchObject({ ok: true });
    expect(expectRevision(before, 'member', { id, revision: 1 }, 'member')).toEqual(
      conflict('has been changed'),
    );
    expect(expectRevision(before, 'member', { id, revision: -1 }, 'member')).toEqual(
      conflict('has been changed'),
    );
    expect(expectRevision(before, 'member', { id: anId('mem'), revision: 0 }, 'member')).toEqual(
      conflict('no longer exists'),
    );
  });
});
