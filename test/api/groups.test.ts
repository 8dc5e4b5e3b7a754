/** @deep */

import {
  approve,
  asProposed,
  badField,
  carryOut,
  change,
  expectRefused,
  proposeChange,
  read,
  refusal,
  reject,
  type Shown,
  sharedApi,
  UNKNOWN,
} from '../support/api';
import { anAddress } from '../support/builders';
import { changeGroup } from '../support/decisions';
import type { TestMember, TestOrganization, TestService } from '../support/service';
import { itDeep } from '../support/suite';

const CREATE = '/groups/proposals/create';
const UPDATE = '/groups/proposals/update';
const DELETE = '/groups/proposals/delete';

let api: TestService;
let org: TestOrganization;

beforeAll(async () => {
  api = await sharedApi();
  org = await api.createOrganization();
});
afterAll(() => api?.stop());

const get = (path: string) => read(api.http, org.readKey, `/api/v1${path}`);
const idsOf = (list: Shown) => list.map(({ id }: Shown) => id);
const auditOf = async (id: string) => (await get(`/audit-logs?resourceId=${id}&limit=100`)).reverse();
const send = (path: string, body: object) =>
  api.http.send({ key: org.adminKey, path: `/api/v1${path}`, body });
const add = ({ id }: { id: string }) => ({ action: 'addMember', id });
const take = ({ id }: { id: string }) => ({ action: 'removeMember', id });
const summaryOf = ({ id, name, type, wallet }: TestMember) => ({
  id,
  name,
  type,
  walletAddress: wallet.address,
  walletKind: 'key',
});
const inWords = ({ name, wallet }: TestMember) => `"${name}" (${wallet.address})`;

/** Makes a group, and reads it. */
async function makeGroup(name: string, ...members: { id: string }[]): Promise<Shown> {
  const done = await change(api.http, org, CREATE, { items: [{ name, memberIds: idsOf(members) }] });
  return read(api.http, org.readKey, done.result.resources[0].uri);
}

let made = 0;

/** Makes a member, with a name of its own that begins like this. */
async function makeMember(name: string): Promise<Shown> {
  made += 1;
  const items = [{ name: `${name} ${made}`, walletAddress: anAddress(), type: 'user' }];
  const done = await change(api.http, org, '/members/proposals/create', { items });
  return read(api.http, org.readKey, done.result.resources[0].uri);
}

describe('new groups', () => {
  it('are created by their proposal, in the order of its items', async () => {
    const items = [
      { name: 'Traders', memberIds: [org.dave.id, org.alice.id] },
      { name: 'Nobody', memberIds: [] },
    ];
    const answer = await send(CREATE, { items });
    expect(answer.status).toBe(201);
    const created = answer.body.data;
    expect(answer.headers.location).toBe(`/api/v1/groups/proposals/${created.id}`);
    expect(created).toEqual(
      asProposed(created, {
        resourceType: 'groups',
        action: 'create',
        summary: expect.stringMatching(
          /^Create 2 groups\n"Traders" with 2 members\nWith "Dave" \(0x\w+\), "Alice" \(0x\w+\)\n"Nobody" without members$/,
        ),
        data: { items: items.map((item) => ({ id: expect.stringMatching(/^grp_/), ...item })) },
      }),
    );
    expect(await get('/groups')).toEqual([]);

    const done = await carryOut(api.http, org, created);
    const [traders, nobody] = idsOf(created.data.items);
    expect(done.result).toEqual({
      resolution: 'approved',
      resources: [traders, nobody].map((id) => ({ type: 'group', id, uri: `/api/v1/groups/${id}` })),
    });
    const shown = await get(`/groups/${traders}`);
    expect(shown).toEqual({
      id: traders,
      name: 'Traders',
      members: [summaryOf(org.alice), summaryOf(org.dave)],
      createdAt: shown.createdAt,
      updatedAt: shown.updatedAt,
    });
    expect((await get(`/groups/${nobody}`)).members).toEqual([]);
    expect(idsOf(await get('/groups'))).toEqual([nobody, traders]);
    expect(await auditOf(traders)).toMatchObject([
      {
        action: 'group.created',
        resourceType: 'group',
        details: {
          after: { name: 'Traders', memberIds: [org.alice.id, org.dave.id] },
          proposalId: created.id,
        },
      },
    ]);
  });

  it('may have the members of another, but not its name', async () => {
    const [one, two] = [await makeGroup('Twins', org.dave), await makeGroup('Other twins', org.dave)];
    expect(two.members).toEqual(one.members);
    const conflict = refusal(409, 'conflict', 'items[0].name');
    for (const [path, item] of [
      [CREATE, { name: 'ＴＷＩＮＳ', memberIds: [org.alice.id] }],
      [UPDATE, { id: two.id, name: 'twins' }],
    ] as const) {
      const ask = { key: org.adminKey, path: `/api/v1${path}`, body: { items: [item] } };
      const { body } = await expectRefused(api.http, org, ask, conflict);
      expect(body.message).toContain(`is the name of group ${one.id}`);
    }
  });

  itDeep('have a hundred members at most', async () => {
    const other = await api.createOrganization();
    const members = Array.from({ length: 94 }, (_, i) => ({ name: `M${i}`, walletAddress: anAddress() }));
    await change(api.http, other, '/members/proposals/create', { items: members });
    const memberIds = idsOf(await read(api.http, other.readKey, '/api/v1/members'));
    expect(memberIds).toHaveLength(100);
    const items = ['One', 'Two', 'Three'].map((name) => ({ name, memberIds }));
    const done = await change(api.http, other, CREATE, { items });
    expect(done.summary.split('\n')).toEqual([
      'Create 3 groups',
      ...['One', 'Two', 'Three'].flatMap((name) => [
        `"${name}" with 100 members`,
        expect.stringMatching(/^With ("\w+" \(0x\w{40}\)(, | and )){3,4}9[67] more$/),
      ]),
    ]);
    const groups = await read(api.http, other.readKey, '/api/v1/groups');
    expect(idsOf(groups)).toEqual(idsOf(done.result.resources).reverse());
    for (const { members: present } of groups) expect(idsOf(present).sort()).toEqual([...memberIds].sort());

    const takeAll = [0, 1].map((i) => ({
      id: groups[i].id,
      memberUpdates: memberIds.map((id: string) => take({ id })),
    }));
    const emptied = await change(api.http, other, UPDATE, { items: takeAll });
    expect(emptied.summary).toContain('remove 100 members');
    const after = await read(api.http, other.readKey, '/api/v1/groups');
    expect(after.map(({ members: present }: Shown) => present.length)).toEqual([0, 0, 100]);
    const extra = await change(api.http, other, '/members/proposals/create', {
      items: [{ name: 'One more', walletAddress: anAddress() }],
    });
    const tooMany = { id: groups[2].id, memberUpdates: [add(extra.result.resources[0])] };
    await expectRefused(
      api.http,
      other,
      { key: other.adminKey, path: `/api/v1${UPDATE}`, body: { items: [tooMany] } },
      badField('items[0].memberUpdates'),
    );
  });
});

describe('a group', () => {
  it('gets a new name, members, and loses others', async () => {
    const before = await makeGroup('Before', org.alice, org.bob);
    const memberUpdates = [add(org.dave), take(org.bob)];
    const proposed = await proposeChange(api.http, org, UPDATE, {
      items: [{ id: before.id, name: 'After', memberUpdates }],
    });
    expect(proposed).toMatchObject({
      resourceType: 'groups',
      action: 'update',
      summary: `Update group "Before" (${before.id}): name it "After", add 1 member, remove 1 member\nAdd ${inWords(org.dave)}\nRemove ${inWords(org.bob)}`,
    });
    const members = [summaryOf(org.alice), summaryOf(org.dave)];
    const revision = expect.any(Number);
    expect(proposed.data).toEqual({ items: [{ id: before.id, revision, name: 'After', members }] });
    expect(await get(`/groups/${before.id}`)).toEqual(before);
    const done = await carryOut(api.http, org, proposed);
    expect(done.result).toEqual({
      resolution: 'approved',
      resources: [{ type: 'group', id: before.id, uri: `/api/v1/groups/${before.id}` }],
    });
    const after = await get(`/groups/${before.id}`);
    expect(after).toEqual({ ...before, name: 'After', members, updatedAt: after.updatedAt });
    expect(after.updatedAt > before.updatedAt).toBe(true);
    expect((await auditOf(before.id)).at(-1)).toMatchObject({
      action: 'group.updated',
      details: {
        before: { name: 'Before', memberIds: [org.alice.id, org.bob.id] },
        after: { name: 'After', memberIds: [org.alice.id, org.dave.id] },
        proposalId: proposed.id,
      },
    });
  });

  it('can be sent back as it was read, with one field changed', async () => {
    const group = await makeGroup('Read', org.dave);
    const ask = { key: org.adminKey, path: `/api/v1${UPDATE}`, body: { items: [group] } };
    await expectRefused(api.http, org, ask, badField('items[0]'));
    await change(api.http, org, UPDATE, { items: [{ ...group, name: 'Written' }] });
    expect(await get(`/groups/${group.id}`)).toMatchObject({ name: 'Written', members: group.members });
  });

  it('is deleted, and its members remain', async () => {
    const group = await makeGroup('Doomed', org.dave);
    const proposed = await proposeChange(api.http, org, DELETE, { items: [group] });
    expect(proposed).toMatchObject({
      resourceType: 'groups',
      action: 'delete',
      data: { items: [{ id: group.id, name: 'Doomed', members: [summaryOf(org.dave)] }] },
      summary: `Delete group "Doomed" (${group.id}) with 1 member\nWith ${inWords(org.dave)}`,
    });
    const done = await carryOut(api.http, org, proposed);
    expect(done.result).toEqual({ resolution: 'approved', resources: [{ type: 'group', id: group.id }] });
    const answer = await api.http.send({ key: org.readKey, path: `/api/v1/groups/${group.id}` });
    expect([answer.status, answer.body.code]).toEqual([404, 'notFound']);
    expect(idsOf(await get('/groups'))).not.toContain(group.id);
    expect((await get(`/members/${org.dave.id}`)).name).toBe('Dave');
    expect((await auditOf(group.id)).at(-1)).toMatchObject({
      action: 'group.deleted',
      details: { before: { name: 'Doomed', memberIds: [org.dave.id] }, proposalId: proposed.id },
    });
    for (const [path, item] of [
      [UPDATE, { id: group.id, name: 'Back' }],
      [DELETE, { id: group.id }],
    ] as const) {
      await expectRefused(
        api.http,
        org,
        { key: org.adminKey, path: `/api/v1${path}`, body: { items: [item] } },
        badField('items[0].id'),
      );
    }
  });

  itDeep('is changed by one open proposal at a time', async () => {
    const group = await makeGroup('Wanted', org.dave);
    const answers = await Promise.all([
      send(UPDATE, { items: [{ id: group.id, name: 'One' }] }),
      send(UPDATE, { items: [{ id: group.id, memberUpdates: [add(org.alice)] }] }),
      send(DELETE, { items: [{ id: group.id }] }),
      send(UPDATE, { items: [{ id: group.id, name: 'Two' }] }),
      send(DELETE, { items: [{ id: group.id }] }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
    const held = answers.find(({ status }) => status === 201)?.body.data;
    for (const { status, body } of answers) {
      if (status === 409) expect(body.message).toContain(held.id);
    }
    await reject(api.http, org, held);
    expect(await get(`/groups/${group.id}`)).toEqual(group);
    await change(api.http, org, UPDATE, { items: [{ id: group.id, name: 'Three' }] });
    await change(api.http, org, DELETE, { items: [{ id: group.id }] });
  });

  itDeep('and its members are changed by different proposals', async () => {
    const [frank, group] = [await makeMember('Frank'), await makeGroup('Loose', org.dave)];
    const open = [
      await proposeChange(api.http, org, UPDATE, {
        items: [{ id: group.id, memberUpdates: [add(frank)] }],
      }),
      await proposeChange(api.http, org, '/members/proposals/update', {
        items: [{ id: frank.id, name: 'Francis' }],
      }),
    ];
    const late = await proposeChange(api.http, org, CREATE, {
      items: [{ name: 'More', memberIds: [frank.id] }],
    });
    for (const proposal of open) await carryOut(api.http, org, proposal);
    // It was signed as a group with Frank.
    const outcome = await approve(api.http, org, late);
    expect(outcome).toMatchObject({ executionStatus: 'blocked', failure: { code: 'stale' } });
    expect(outcome.failure.message).toContain('it says "\\"Frank');
    expect((await get(`/groups/${group.id}`)).members.map(({ name }: Shown) => name)).toContain('Francis');
  });
});

describe('a stale proposal is blocked', () => {
  const blocked = { executionStatus: 'blocked', failure: { code: 'stale' } };
  const remove = (id: string) => change(api.http, org, '/members/proposals/remove', { ids: [id] });

  itDeep('when a member of the group has left', async () => {
    const frank = await makeMember('Frank');
    const group = await makeGroup('Losing', org.dave, frank);
    const proposed = await proposeChange(api.http, org, UPDATE, { items: [{ id: group.id, name: 'Lost' }] });
    await remove(frank.id);
    const noted = await get(`/groups/proposals/${proposed.id}`);
    expect(noted.notes).not.toEqual([]);
    const outcome = await approve(api.http, org, proposed);
    expect(outcome).toMatchObject(blocked);
    expect(outcome.failure.message).toContain(frank.id);
    expect((await get(`/groups/${group.id}`)).name).toBe('Losing');
  });

  itDeep('when a member to be added has left', async () => {
    const frank = await makeMember('Frank');
    const group = await makeGroup('Waiting', org.dave);
    const open = [
      await proposeChange(api.http, org, UPDATE, { items: [{ id: group.id, memberUpdates: [add(frank)] }] }),
      await proposeChange(api.http, org, CREATE, {
        items: [
          { name: 'Fine', memberIds: [org.dave.id] },
          { name: 'Not fine', memberIds: [frank.id] },
        ],
      }),
    ];
    const before = idsOf(await get('/groups'));
    await remove(frank.id);
    for (const proposal of open) {
      const outcome = await approve(api.http, org, proposal);
      expect(outcome).toMatchObject(blocked);
      expect(outcome.failure.message).toContain(frank.id);
    }
    expect(idsOf(await get('/groups'))).toEqual(before);
  });

  itDeep('when a member to be removed has left already', async () => {
    const frank = await makeMember('Frank');
    const group = await makeGroup('Parting', org.dave, frank);
    const proposed = await proposeChange(api.http, org, UPDATE, {
      items: [{ id: group.id, memberUpdates: [take(frank)] }],
    });
    await remove(frank.id);
    const outcome = await approve(api.http, org, proposed);
    expect(outcome).toMatchObject(blocked);
    expect(outcome.failure.message).toContain('has been changed since this was proposed');
    expect((await get(`/groups/${group.id}`)).members).toEqual([summaryOf(org.dave)]);
  });

  itDeep('when a member’s wallet has changed', async () => {
    const frank = await makeMember('Frank');
    const group = await makeGroup('Moving', frank);
    const proposed = await proposeChange(api.http, org, UPDATE, {
      items: [{ id: group.id, memberUpdates: [add(org.dave)] }],
    });
    const wallet = anAddress();
    await change(api.http, org, '/members/proposals/update', {
      items: [{ id: frank.id, walletAddress: wallet }],
    });
    const outcome = await approve(api.http, org, proposed);
    expect(outcome).toMatchObject(blocked);
    expect(outcome.failure.message).toContain(wallet);
    expect(idsOf((await get(`/groups/${group.id}`)).members)).toEqual([frank.id]);
  });

  itDeep('when the group has been changed, even when it is again what it was', async () => {
    const [group, doomed] = [await makeGroup('Seen', org.dave), await makeGroup('Doomed', org.dave)];
    const proposed = await proposeChange(api.http, org, UPDATE, {
      items: [{ id: group.id, name: 'Changed' }],
    });
    const deleting = await proposeChange(api.http, org, DELETE, { items: [{ id: doomed.id }] });
    for (const { id } of [group, doomed]) {
      await changeGroup(api.db, org, id, { memberIds: [org.dave.id, org.otherBot.id].sort() });
      await changeGroup(api.db, org, id, { memberIds: [org.dave.id] });
    }
    for (const proposal of [proposed, deleting]) {
      const outcome = await approve(api.http, org, proposal);
      expect(outcome).toMatchObject(blocked);
      expect(outcome.failure.message).toContain('has been changed since this was proposed');
    }
    expect((await get(`/groups/${group.id}`)).name).toBe('Seen');
    expect((await get(`/groups/${doomed.id}`)).name).toBe('Doomed');
  });

  itDeep('when a member of a group to be deleted has left', async () => {
    const frank = await makeMember('Frank');
    const group = await makeGroup('Leaving', frank);
    const proposed = await proposeChange(api.http, org, DELETE, { items: [{ id: group.id }] });
    await remove(frank.id);
    const outcome = await approve(api.http, org, proposed);
    expect(outcome).toMatchObject(blocked);
    expect(outcome.failure.message).toContain(group.id);
    expect((await get(`/groups/${group.id}`)).members).toEqual([]);
  });

  it('not when only its row is not what was decided: then it becomes it', async () => {
    const group = await makeGroup('Tampered', org.dave);
    const proposed = await proposeChange(api.http, org, UPDATE, {
      items: [{ id: group.id, memberUpdates: [add(org.alice)] }],
    });
    await api.db('group_members').insert({ group_id: group.id, member_id: org.otherBot.id });
    await carryOut(api.http, org, proposed);
    expect((await get(`/groups/${group.id}`)).members).toEqual([summaryOf(org.alice), summaryOf(org.dave)]);
    expect((await auditOf(group.id)).map(({ action }: Shown) => action)).toContain('group.differed');
  });
});

describe('a bad request about groups', () => {
  let group: Shown;
  beforeAll(async () => {
    group = await makeGroup('Steady', org.dave);
  });

  const created = (change: object) => ({ items: [{ name: 'New', memberIds: [org.dave.id], ...change }] });
  const updated = (change: object) => ({ items: [{ id: group.id, ...change }] });
  it.each<[string, string, () => object, string]>([
    [
      'a stranger',
      CREATE,
      () => created({ memberIds: [org.dave.id, UNKNOWN.member] }),
      'items[0].memberIds[1]',
    ],
    ['an id of another kind', CREATE, () => created({ memberIds: [UNKNOWN.group] }), 'items[0].memberIds[0]'],
    [
      'a member twice',
      CREATE,
      () => created({ memberIds: [org.dave.id, org.dave.id] }),
      'items[0].memberIds[1]',
    ],
    ['no members', CREATE, () => ({ items: [{ name: 'New' }] }), 'items[0].memberIds'],
    ['members of another form', CREATE, () => created({ memberIds: org.dave.id }), 'items[0].memberIds'],
    ['a name of nothing', CREATE, () => created({ name: '' }), 'items[0].name'],
    ['an unknown key', CREATE, () => created({ threshold: 1 }), 'items[0].threshold'],
    ['no items', CREATE, () => ({ items: [] }), 'items'],
    ['a group twice', CREATE, () => ({ items: [created({}).items[0], created({}).items[0]] }), 'items[1]'],
    ['an unknown group', UPDATE, () => ({ items: [{ id: UNKNOWN.group, name: 'x' }] }), 'items[0].id'],
    ['no change', UPDATE, () => updated({}), 'items[0]'],
    ['an empty list of changes', UPDATE, () => updated({ memberUpdates: [] }), 'items[0]'],
    ['the name it has', UPDATE, () => updated({ name: 'Steady' }), 'items[0]'],
    [
      'a stranger to be added',
      UPDATE,
      () => updated({ memberUpdates: [add(org.alice), add({ id: UNKNOWN.member })] }),
      'items[0].memberUpdates[1].id',
    ],
    [
      'a stranger to be taken out',
      UPDATE,
      () => updated({ memberUpdates: [take({ id: UNKNOWN.member })] }),
      'items[0].memberUpdates[0].id',
    ],
    [
      'a member to be added who is in',
      UPDATE,
      () => updated({ name: 'x', memberUpdates: [add(org.dave)] }),
      'items[0].memberUpdates[0].id',
    ],
    [
      'a member to be taken out who is not in',
      UPDATE,
      () => updated({ name: 'x', memberUpdates: [take(org.alice)] }),
      'items[0].memberUpdates[0].id',
    ],
    [
      'one member twice',
      UPDATE,
      () => updated({ memberUpdates: [take(org.dave), add(org.dave)] }),
      'items[0].memberUpdates[1].id',
    ],
    [
      'an unknown action',
      UPDATE,
      () => updated({ memberUpdates: [{ action: 'add', id: org.alice.id }] }),
      'items[0].memberUpdates[0].action',
    ],
    ['an unknown group', DELETE, () => ({ items: [{ id: group.id }, { id: UNKNOWN.group }] }), 'items[1].id'],
    ['a group twice', DELETE, () => ({ items: [{ id: group.id }, { id: group.id }] }), 'items[1].id'],
    ['ids in place of items', DELETE, () => ({ ids: [group.id] }), 'items'],
    ['an unknown key', DELETE, () => updated({ force: true }), 'items[0].force'],
  ])('with %s (%s) is refused', async (_, path, body, field) => {
    await expectRefused(
      api.http,
      org,
      { key: org.adminKey, path: `/api/v1${path}`, body: body() },
      badField(field),
    );
  });

  it('reports foreign and unknown ids alike', async () => {
    const theirs = await api.createOrganization();
    const done = await change(api.http, theirs, CREATE, {
      items: [{ name: 'Theirs', memberIds: [theirs.dave.id] }],
    });
    const [{ id: theirGroup }] = done.result.resources;
    const asks: [string, string, string, (id: string) => object, string][] = [
      [theirGroup, UNKNOWN.group, UPDATE, (id) => ({ items: [{ id, name: 'x' }] }), 'items[0].id'],
      [theirGroup, UNKNOWN.group, DELETE, (id) => ({ items: [{ id }] }), 'items[0].id'],
      [
        theirs.dave.id,
        UNKNOWN.member,
        CREATE,
        (id) => ({ items: [{ name: 'x', memberIds: [id] }] }),
        'items[0].memberIds[0]',
      ],
      [
        theirs.dave.id,
        UNKNOWN.member,
        UPDATE,
        (id) => ({ items: [{ id: group.id, memberUpdates: [add({ id })] }] }),
        'items[0].memberUpdates[0].id',
      ],
    ];
    for (const [foreign, unknown, path, bodyFor, field] of asks) {
      const ask = (id: string) => ({ key: org.adminKey, path: `/api/v1${path}`, body: bodyFor(id) });
      const one = await expectRefused(api.http, org, ask(foreign), badField(field));
      const two = await expectRefused(api.http, org, ask(unknown), badField(field));
      expect(one.text.replaceAll(foreign, '')).toBe(two.text.replaceAll(unknown, ''));
    }
    const path = `/api/v1/groups/${theirGroup}`;
    await expectRefused(api.http, org, { key: org.readKey, path }, refusal(404, 'notFound', null));
    expect(idsOf(await get('/groups'))).not.toContain(theirGroup);
  });

  it('with a read-only key is refused', async () => {
    for (const [path, body] of [
      [CREATE, created({})],
      [UPDATE, updated({ name: 'x' })],
      [DELETE, updated({})],
    ] as const) {
      await expectRefused(
        api.http,
        org,
        { key: org.readKey, path: `/api/v1${path}`, body },
        refusal(403, 'forbidden', null),
      );
    }
  });
});

describe('the groups', () => {
  it('are listed newest first, whole or in pages', async () => {
    const whole = await get('/groups');
    expect(whole.length).toBeGreaterThan(4);
    const seen: Shown[] = [];
    let cursor = '';
    do {
      const path = `/api/v1/groups?limit=3${cursor && `&cursor=${cursor}`}`;
      const { body } = await api.http.send({ key: org.readKey, path });
      seen.push(...body.data);
      cursor = body.pagination.cursor;
    } while (cursor !== '');
    expect(seen).toEqual(whole);
  });

  it('have proposals that are listed by state', async () => {
    const open = await proposeChange(api.http, org, CREATE, { items: [{ name: 'Open', memberIds: [] }] });
    const listed = await get('/groups/proposals?status=open&limit=1');
    expect(idsOf(listed)).toEqual([open.id]);
    const closed = await get('/groups/proposals?status=closed&limit=100');
    expect(closed.every(({ resourceType }: Shown) => resourceType === 'groups')).toBe(true);
    expect(idsOf(closed)).not.toContain(open.id);
  });
});
