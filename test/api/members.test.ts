/** @deep */

import { issueApiKey } from '../../src/credentials/apiKeys';
import { verifyAudit } from '../../src/db/audit';
import { OPERATOR } from '../../src/domain/actor';
import {
  approve,
  asProposed,
  badField,
  carryOut,
  change,
  execute,
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
import { changeMember } from '../support/decisions';
import type { Answer } from '../support/http';
import { sign, signPayload, type TestOrganization, type TestService } from '../support/service';
import { dataIn } from '../support/signedData';
import { itDeep } from '../support/suite';

const CREATE = '/members/proposals/create';
const UPDATE = '/members/proposals/update';
const REMOVE = '/members/proposals/remove';
const ZERO = `0x${'0'.repeat(40)}`;

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

/** Makes members, and reads them. */
async function makeMembers(...items: object[]): Promise<Shown[]> {
  const done = await change(api.http, org, CREATE, { items });
  return Promise.all(done.result.resources.map(({ uri }: Shown) => read(api.http, org.readKey, uri)));
}

let count = 0;

/** Makes a member, with a name of its own unless `item` says otherwise. */
async function makeMember(item: object = {}): Promise<Shown> {
  count += 1;
  const name = `Erin ${count}`;
  const [made] = await makeMembers({ name, walletAddress: anAddress(), type: 'user', ...item });
  return made;
}

const summaryOf = ({ id, name, type, walletAddress, walletKind }: Shown) => ({
  id,
  name,
  type,
  walletAddress,
  walletKind,
});

describe('new members', () => {
  it('are created by their proposal', async () => {
    const [erin, frank] = [anAddress(), anAddress()];
    const items = [
      { name: 'Erin "E"', walletAddress: erin.toLowerCase(), type: 'user' },
      { name: 'Frank', walletAddress: `0x${frank.slice(2).toUpperCase()}` },
    ];
    const answer = await send(CREATE, { items });
    expect(answer.status).toBe(201);
    const created = answer.body.data;
    expect(answer.headers.location).toBe(`/api/v1/members/proposals/${created.id}`);
    expect(created).toEqual(
      asProposed(created, {
        resourceType: 'members',
        action: 'create',
        summary: `Add 2 members\n"Erin \\"E\\"" (user, ${erin})\n"Frank" (api, ${frank})`,
        data: {
          items: [
            { name: 'Erin "E"', walletAddress: erin, type: 'user', walletKind: 'key' },
            { name: 'Frank', walletAddress: frank, type: 'api', walletKind: 'key' },
          ].map((item) => ({ id: expect.stringMatching(/^mem_/), ...item })),
        },
      }),
    );
    expect(dataIn(JSON.parse(created.signingPayloads.approvePayload).message.data)).toEqual(created.data);
    const before = await get('/members');

    const done = await carryOut(api.http, org, created);
    expect(done.signingPayloads).toBeUndefined();
    expect(done.deployments).toBeUndefined();
    expect(done.approvals.map(({ id }: Shown) => id).sort()).toEqual([org.alice.id, org.bob.id].sort());
    const ids = idsOf(created.data.items);
    expect(done.result).toEqual({
      resolution: 'approved',
      resources: ids.map((id: string) => ({ type: 'member', id, uri: `/api/v1/members/${id}` })),
    });
    expect(await get(`/members/${ids[0]}`)).toEqual({
      id: ids[0],
      name: 'Erin "E"',
      type: 'user',
      walletAddress: erin,
      walletKind: 'key',
      registeredAt: null,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    expect(idsOf(await get('/members'))).toEqual([ids[1], ids[0], ...idsOf(before)]);
    const [entry] = await auditOf(ids[1]);
    expect(entry).toMatchObject({
      action: 'member.created',
      resourceType: 'member',
      details: {
        proposalId: created.id,
        after: { name: 'Frank', type: 'api', walletAddress: frank, walletKind: 'key' },
      },
    });
  });

  itDeep('are created a hundred at once, in the order of the items', async () => {
    const items = Array.from({ length: 100 }, (_, i) => ({
      name: `Member ${i}`,
      walletAddress: anAddress(),
    }));
    const done = await change(api.http, org, CREATE, { items });
    const ids = idsOf(done.result.resources);
    expect(ids).toHaveLength(100);
    const listed = await get('/members');
    expect(idsOf(listed).slice(0, 100)).toEqual([...ids].reverse());
    expect(listed[0].name).toBe('Member 99');
    const [title, ...shown] = done.summary.split('\n');
    const count = shown.pop();
    expect(title).toBe('Add 100 members');
    expect(shown).toEqual(shown.map(() => expect.stringMatching(/^"Member \d+" \(api, 0x\w{40}\)$/)));
    expect(shown.length).toBeGreaterThanOrEqual(30);
    expect(count).toBe(`${shown.length} of 100 shown: data has all`);
  });

  it('may have neither the name nor the wallet of another', async () => {
    const erin = await makeMember();
    const twin = { name: erin.name.toUpperCase(), walletAddress: anAddress() };
    const ask = { key: org.adminKey, path: `/api/v1${CREATE}`, body: { items: [twin] } };
    const taken = await expectRefused(api.http, org, ask, refusal(409, 'conflict', 'items[0].name'));
    expect(taken.body.message).toContain(`"${twin.name}" is the name of member ${erin.id}`);
    const inUse = refusal(409, 'conflict', 'items[1].walletAddress');
    const items = [
      { name: 'New', walletAddress: anAddress() },
      { name: 'Other', walletAddress: erin.walletAddress.toLowerCase() },
    ];
    const answer = await expectRefused(
      api.http,
      org,
      { key: org.adminKey, path: `/api/v1${CREATE}`, body: { items } },
      inUse,
    );
    expect(answer.body.message).toContain(erin.id);
  });
});

describe('a member', () => {
  it('gets a new name and a new wallet', async () => {
    const before = await makeMember();
    await api.db('members').where({ id: before.id }).update({ registered_at: new Date() });
    expect((await get(`/members/${before.id}`)).registeredAt).not.toBeNull();
    const wallet = anAddress();
    const items = [{ id: before.id, name: 'Erica', walletAddress: wallet.toLowerCase() }];
    const proposed = await proposeChange(api.http, org, UPDATE, { items });
    expect(proposed).toMatchObject({
      resourceType: 'members',
      action: 'update',
      data: { items: [{ id: before.id, name: 'Erica', walletAddress: wallet, walletKind: 'key' }] },
      summary: `Update member "${before.name}" (${before.id}, ${before.walletAddress})\nChange the name to "Erica" and the wallet to ${wallet}`,
    });
    expect((await get(`/members/${before.id}`)).name).toBe(before.name);

    const done = await carryOut(api.http, org, proposed);
    expect(done.result).toEqual({
      resolution: 'approved',
      resources: [{ type: 'member', id: before.id, uri: `/api/v1/members/${before.id}` }],
    });
    const after = await get(`/members/${before.id}`);
    expect(after).toEqual({
      ...before,
      name: 'Erica',
      walletAddress: wallet,
      registeredAt: null,
      updatedAt: after.updatedAt,
    });
    expect(after.updatedAt > before.updatedAt).toBe(true);
    expect((await auditOf(before.id)).at(-1)).toMatchObject({
      action: 'member.updated',
      details: {
        proposalId: proposed.id,
        before: { name: before.name, walletAddress: before.walletAddress },
        after: { name: 'Erica', walletAddress: wallet },
      },
    });
  });

  itDeep('with a new name only keeps wallet and proof', async () => {
    const before = await makeMember();
    await api.db('members').where({ id: before.id }).update({ registered_at: new Date() });
    const done = await change(api.http, org, UPDATE, { items: [{ id: before.id, name: 'Erika' }] });
    expect(done.data.items).toEqual([
      {
        ...{ id: before.id, revision: expect.any(Number), name: 'Erika' },
        ...{ walletAddress: before.walletAddress, walletKind: 'key' },
      },
    ]);
    const after = await get(`/members/${before.id}`);
    expect(after.walletAddress).toBe(before.walletAddress);
    expect(after.registeredAt).not.toBeNull();
  });

  it('can be sent back as it was read, with one field changed', async () => {
    const member = await makeMember();
    const path = `/api/v1${UPDATE}`;
    const ask = { key: org.adminKey, path };
    await expectRefused(api.http, org, { ...ask, body: { items: [member] } }, badField('items[0]'));
    await expectRefused(
      api.http,
      org,
      { ...ask, body: { items: [{ ...member, type: 'api', name: 'Bot' }] } },
      badField('items[0].type'),
    );
    await change(api.http, org, UPDATE, { items: [{ ...member, name: 'Erike' }] });
    expect((await get(`/members/${member.id}`)).name).toBe('Erike');
  });

  it('is removed from the organization and its groups; others keep theirs', async () => {
    const [gone, stays] = await makeMembers(
      { name: 'Gone', walletAddress: anAddress(), type: 'user' },
      { name: 'Stays', walletAddress: anAddress(), type: 'user' },
    );
    const groups = await change(api.http, org, '/groups/proposals/create', {
      items: [
        { name: 'Both', memberIds: [gone.id, stays.id] },
        { name: 'One', memberIds: [stays.id] },
      ],
    });
    const [both, one] = idsOf(groups.result.resources);
    const before = await get(`/groups/${one}`);
    const proposed = await proposeChange(api.http, org, REMOVE, { ids: [gone.id] });
    expect(proposed).toMatchObject({
      resourceType: 'members',
      action: 'remove',
      data: { items: [summaryOf(gone)] },
      summary: `Remove member "Gone" (${gone.id}, ${gone.walletAddress})`,
    });
    const done = await carryOut(api.http, org, proposed);
    expect(done.result).toEqual({ resolution: 'approved', resources: [{ type: 'member', id: gone.id }] });

    const answer = await api.http.send({ key: org.readKey, path: `/api/v1/members/${gone.id}` });
    expect(answer.status).toBe(404);
    expect(idsOf(await get('/members'))).not.toContain(gone.id);
    expect((await get(`/groups/${both}`)).members).toEqual([summaryOf(stays)]);
    expect(await get(`/groups/${one}`)).toEqual(before);
    expect((await auditOf(gone.id)).at(-1)).toMatchObject({
      action: 'member.removed',
      details: {
        before: { name: 'Gone', type: 'user', walletAddress: gone.walletAddress, walletKind: 'key' },
        proposalId: done.id,
      },
    });
    expect((await auditOf(both)).at(-1)).toMatchObject({
      action: 'group.updated',
      details: {
        before: { memberIds: [gone.id, stays.id].sort() },
        after: { memberIds: [stays.id] },
        proposalId: done.id,
      },
    });
    expect((await auditOf(one)).map(({ action }: Shown) => action)).toEqual(['group.created']);
    // Who has left is as unknown as anybody.
    for (const [path, body, field] of [
      [UPDATE, { items: [{ id: gone.id, name: 'Back' }] }, 'items[0].id'],
      [REMOVE, { ids: [gone.id] }, 'ids[0]'],
      ['/groups/proposals/create', { items: [{ name: 'G', memberIds: [gone.id] }] }, 'items[0].memberIds[0]'],
    ] as const) {
      await expectRefused(
        api.http,
        org,
        { key: org.adminKey, path: `/api/v1${path}`, body },
        badField(field),
      );
    }
  });

  it('is not created by a rejected proposal', async () => {
    const before = idsOf(await get('/members'));
    const proposed = await proposeChange(api.http, org, CREATE, {
      items: [{ name: 'Unwanted', walletAddress: anAddress() }],
    });
    const rejected = await reject(api.http, org, proposed);
    expect(rejected.result).toEqual({ resolution: 'rejected', resources: [] });
    expect(idsOf(await get('/members'))).toEqual(before);
  });
});

describe('a bot', () => {
  async function keyFor(memberId: string): Promise<string> {
    const issued = await api.db.transaction((tx) =>
      issueApiKey(tx, { organizationId: org.id, memberIds: [memberId], actor: OPERATOR }),
    );
    return issued.key;
  }

  itDeep('has no valid key after its removal, even when its wallet is added again', async () => {
    const bot = await makeMember({ name: 'Bot', type: 'api' });
    const key = await keyFor(bot.id);
    const whoAmI = () => api.http.send({ key, path: '/api/v1/members' });
    expect((await whoAmI()).status).toBe(200);
    await change(api.http, org, REMOVE, { ids: [bot.id] });
    expect((await whoAmI()).status).toBe(401);

    const again = await makeMember({ name: 'Bot', type: 'api', walletAddress: bot.walletAddress });
    expect(again.id).not.toBe(bot.id);
    expect((await whoAmI()).status).toBe(401);
    const newKey = await keyFor(again.id);
    expect((await api.http.send({ key: newKey, path: `/api/v1/members/${again.id}` })).status).toBe(200);
    const read404 = await api.http.send({ key: newKey, path: `/api/v1/members/${bot.id}` });
    expect(read404.status).toBe(404);
  });
});

describe('an admin', () => {
  it('cannot be removed as a member', async () => {
    const ids = [org.dave.id, org.carol.id];
    const ask = { key: org.adminKey, path: `/api/v1${REMOVE}`, body: { ids } };
    await expectRefused(api.http, org, ask, refusal(409, 'conflict', 'ids[1]'));
  });

  it('whose wallet changes signs again with the new one, and the old signature no longer counts', async () => {
    const other = await api.createOrganization();
    const moved = (await api.createOrganization()).carol;
    const post = (path: string, body: object) => proposeChange(api.http, other, path, body);
    const waiting = await post(CREATE, { items: [{ name: 'Later', walletAddress: anAddress() }] });
    expect((await sign(api.http, other.adminKey, waiting, other.carol)).status).toBe(200);
    await carryOut(
      api.http,
      other,
      await post(UPDATE, { items: [{ id: other.carol.id, walletAddress: moved.wallet.address }] }),
    );
    const path = `/api/v1/members/proposals/${waiting.id}`;
    const now = await read(api.http, other.readKey, path);
    expect(now.approvals).toEqual([]);
    expect(now.notes).not.toEqual([]);

    const old = await sign(api.http, other.adminKey, waiting, other.carol);
    expect([old.status, old.body.code]).toEqual([403, 'forbidden']);
    const again = await sign(api.http, other.adminKey, waiting, { ...other.carol, wallet: moved.wallet });
    expect(again.status).toBe(200);
    expect(again.body.data.approvals).toEqual([
      {
        ...{ id: other.carol.id, name: 'Carol', type: 'user' },
        ...{ walletAddress: moved.wallet.address, walletKind: 'key' },
      },
    ]);
    const twice = await sign(api.http, other.adminKey, waiting, { ...other.carol, wallet: moved.wallet });
    expect([twice.status, twice.body.code]).toEqual([409, 'conflict']);
    expect(idsOf((await read(api.http, other.readKey, '/api/v1/admins')).members)).toContain(other.carol.id);
  });
});

describe('a stale proposal is blocked', () => {
  const blocked = { executionStatus: 'blocked', failure: { code: 'stale' } };

  itDeep('when a member’s wallet has been changed, even when it is again what it was', async () => {
    const member = await makeMember();
    const proposed = await proposeChange(api.http, org, REMOVE, { ids: [member.id] });
    const wallet = anAddress();
    await changeMember(api.db, org, member.id, { walletAddress: wallet });
    const outcome = await approve(api.http, org, proposed);
    expect(outcome).toMatchObject(blocked);
    expect(outcome.failure.message).toContain(wallet);
    expect((await get(`/members/${member.id}`)).walletAddress).toBe(wallet);
    await changeMember(api.db, org, member.id, { walletAddress: member.walletAddress });
    const answer = await execute(api.http, org.adminKey, proposed.id, 'approve', 'members');
    expect(answer.body.data).toMatchObject(blocked);
    expect(answer.body.data.failure.message).toContain('has been changed since this was proposed');
  });

  itDeep('when a member’s name has been changed', async () => {
    const member = await makeMember();
    const items = [{ id: member.id, walletAddress: anAddress() }];
    const proposed = await proposeChange(api.http, org, UPDATE, { items });
    await changeMember(api.db, org, member.id, { name: 'Somebody else' });
    const outcome = await approve(api.http, org, proposed);
    expect(outcome).toMatchObject(blocked);
    expect(outcome.failure.message).toContain(member.id);
    expect((await get(`/members/${member.id}`)).walletAddress).toBe(member.walletAddress);
  });

  itDeep('when one wallet has been taken, and creates none of its members', async () => {
    const wallet = anAddress();
    const first = anAddress();
    const proposed = await proposeChange(api.http, org, CREATE, {
      items: [
        { name: 'First', walletAddress: first },
        { name: 'Second', walletAddress: wallet },
      ],
    });
    await changeMember(api.db, org, org.dave.id, { walletAddress: wallet });
    const outcome = await approve(api.http, org, proposed);
    await changeMember(api.db, org, org.dave.id, { walletAddress: org.dave.wallet.address });
    expect(outcome).toMatchObject(blocked);
    expect(outcome.failure.message).toContain(org.dave.id);
    expect((await get('/members')).map((member: Shown) => member.walletAddress)).not.toContain(first);
  });

  it('not when only a row has taken the wallet: then it becomes what was decided', async () => {
    const wallet = anAddress();
    const proposed = await proposeChange(api.http, org, CREATE, {
      items: [{ name: 'Rightful', walletAddress: wallet }],
    });
    await api.db('members').where({ id: org.dave.id }).update({ wallet_address: wallet });
    const done = await carryOut(api.http, org, proposed);
    expect((await read(api.http, org.readKey, done.result.resources[0].uri)).walletAddress).toBe(wallet);
    expect((await get(`/members/${org.dave.id}`)).walletAddress).toBe(org.dave.wallet.address);
    expect(await get(`/audit-logs?resourceId=${org.dave.id}&action=member.differed`)).toHaveLength(1);
  });

  itDeep('when a member was made an admin in the database', async () => {
    const member = await makeMember();
    const proposed = await proposeChange(api.http, org, REMOVE, { ids: [member.id] });
    await change(api.http, org, '/admins/proposals/update', {
      updates: [{ action: 'addMember', id: member.id }],
      threshold: 2,
    });
    const outcome = await approve(api.http, org, proposed);
    expect(outcome).toMatchObject(blocked);
    expect(outcome.failure.message).toContain('is an admin');
    expect((await get(`/members/${member.id}`)).id).toBe(member.id);
    await change(api.http, org, '/admins/proposals/update', {
      updates: [{ action: 'removeMember', id: member.id }],
      threshold: 2,
    });
  });
});

describe('conflicting proposals', () => {
  const statuses = (answers: Answer[]) => answers.map(({ status }) => status).sort();

  it('about one member are refused', async () => {
    const member = await makeMember();
    const answers = await Promise.all([
      send(UPDATE, { items: [{ id: member.id, name: 'One' }] }),
      send(UPDATE, { items: [{ id: member.id, walletAddress: anAddress() }] }),
      send(REMOVE, { ids: [member.id] }),
      send(REMOVE, { ids: [org.dave.id, member.id] }),
      send(UPDATE, { items: [{ id: member.id, name: 'Two' }] }),
    ]);
    expect(statuses(answers)).toEqual([201, 409, 409, 409, 409]);
    const held = answers.find(({ status }) => status === 201)?.body.data;
    for (const { status, body } of answers) {
      if (status === 409)
        expect([body.code, body.message]).toEqual(['conflict', expect.stringContaining(held.id)]);
    }
    // What was refused claims nothing; what is rejected frees what it claimed.
    await reject(api.http, org, held);
    const next = await proposeChange(api.http, org, UPDATE, { items: [{ id: member.id, name: 'Next' }] });
    await proposeChange(api.http, org, UPDATE, { items: [{ id: org.dave.id, name: 'David' }] }).then(
      (proposal) => reject(api.http, org, proposal),
    );
    await carryOut(api.http, org, next);
    // What is carried out frees it, too.
    await change(api.http, org, REMOVE, { ids: [member.id] });
  });

  itDeep('about one wallet are refused, in any case of its digits', async () => {
    const member = await makeMember();
    const wallet = anAddress();
    const [lower, upper] = [wallet.toLowerCase(), `0x${wallet.slice(2).toUpperCase()}`];
    const answers = await Promise.all([
      send(CREATE, { items: [{ name: 'A', walletAddress: wallet }] }),
      send(CREATE, { items: [{ name: 'B', walletAddress: lower }] }),
      send(UPDATE, { items: [{ id: member.id, walletAddress: upper }] }),
      send(CREATE, {
        items: [
          { name: 'C', walletAddress: anAddress() },
          { name: 'D', walletAddress: upper },
        ],
      }),
    ]);
    expect(statuses(answers)).toEqual([201, 409, 409, 409]);
    await reject(api.http, org, answers.find(({ status }) => status === 201)?.body.data);
    const made = await makeMember({ walletAddress: lower });
    expect(made.walletAddress).toBe(wallet);
    const items = [{ id: member.id, walletAddress: wallet }];
    await expectRefused(
      api.http,
      org,
      { key: org.adminKey, path: `/api/v1${UPDATE}`, body: { items } },
      refusal(409, 'conflict', 'items[0].walletAddress'),
    );
    await change(api.http, org, REMOVE, { ids: [made.id] });
    await change(api.http, org, UPDATE, { items });
  });

  it('lets members exchange wallets in one body', async () => {
    const [one, two, three] = await makeMembers(
      ...['One', 'Two', 'Three'].map((name) => ({ name, walletAddress: anAddress() })),
    );
    const wallets = [one, two, three].map(({ walletAddress }) => walletAddress);
    const swap = [
      { id: one.id, walletAddress: wallets[1] },
      { id: two.id, walletAddress: wallets[0].toLowerCase() },
    ];
    await change(api.http, org, UPDATE, { items: swap });
    const walletOf = async ({ id }: Shown) =>
      (await read(api.http, org.readKey, `/api/v1/members/${id}`)).walletAddress;
    expect([await walletOf(one), await walletOf(two)]).toEqual([wallets[1], wallets[0]]);
    // In a ring, and with a wallet that is left free.
    const last = anAddress();
    const ring = [
      { id: one.id, walletAddress: wallets[2] },
      { id: two.id, walletAddress: wallets[1] },
      { id: three.id, walletAddress: last },
    ];
    await change(api.http, org, UPDATE, { items: ring });
    expect([await walletOf(one), await walletOf(two), await walletOf(three)]).toEqual([
      wallets[2],
      wallets[1],
      last,
    ]);
  });

  itDeep('refuses the wallet of a member who keeps it in the same body', async () => {
    const [one, two] = await makeMembers(
      { name: 'Four', walletAddress: anAddress() },
      { name: 'Five', walletAddress: anAddress() },
    );
    for (const ofTwo of [{ name: 'Second' }, { name: 'Second', walletAddress: two.walletAddress }]) {
      const items = [
        { id: one.id, walletAddress: two.walletAddress },
        { id: two.id, ...ofTwo },
      ];
      await expectRefused(
        api.http,
        org,
        { key: org.adminKey, path: `/api/v1${UPDATE}`, body: { items } },
        'walletAddress' in ofTwo
          ? badField('items[1].walletAddress')
          : refusal(409, 'conflict', 'items[0].walletAddress'),
      );
    }
  });
});

describe('a bad request about members', () => {
  const created = (change: object) => ({ items: [{ name: 'New', walletAddress: anAddress(), ...change }] });
  it.each<[string, string, () => object, string]>([
    ['a zero address', CREATE, () => created({ walletAddress: ZERO }), 'items[0].walletAddress'],
    [
      'a wrong checksum',
      CREATE,
      () => created({ walletAddress: '0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' }),
      'items[0].walletAddress',
    ],
    ['too short an address', CREATE, () => created({ walletAddress: '0x12' }), 'items[0].walletAddress'],
    ['an unknown type', CREATE, () => created({ type: 'admin' }), 'items[0].type'],
    ['an unknown key', CREATE, () => created({ roles: [] }), 'items[0].roles'],
    ['no items', CREATE, () => ({ items: [] }), 'items'],
    ['items of another form', CREATE, () => ({ items: {} }), 'items'],
    [
      'an address twice',
      CREATE,
      () => {
        const walletAddress = anAddress();
        return {
          items: [walletAddress, walletAddress.toLowerCase()].map((address) => ({
            name: 'x',
            walletAddress: address,
          })),
        };
      },
      'items[1].walletAddress',
    ],
    ['an unknown member', UPDATE, () => ({ items: [{ id: UNKNOWN.member, name: 'x' }] }), 'items[0].id'],
    ['an id of another kind', UPDATE, () => ({ items: [{ id: UNKNOWN.account, name: 'x' }] }), 'items[0].id'],
    [
      'a known member beside an unknown one',
      UPDATE,
      () => ({
        items: [
          { id: org.dave.id, name: 'x' },
          { id: UNKNOWN.member, name: 'x' },
        ],
      }),
      'items[1].id',
    ],
    ['no change', UPDATE, () => ({ items: [{ id: org.dave.id }] }), 'items[0]'],
    ['the name it has', UPDATE, () => ({ items: [{ id: org.dave.id, name: 'Dave' }] }), 'items[0]'],
    [
      'the wallet it has, in another case',
      UPDATE,
      () => ({ items: [{ id: org.dave.id, walletAddress: org.dave.wallet.address.toLowerCase() }] }),
      'items[0]',
    ],
    [
      'another type',
      UPDATE,
      () => ({ items: [{ id: org.dave.id, name: 'x', type: 'api' }] }),
      'items[0].type',
    ],
    ['no ids', REMOVE, () => ({ ids: [] }), 'ids'],
    ['ids of another form', REMOVE, () => ({ ids: org.dave.id }), 'ids'],
    ['an unknown id', REMOVE, () => ({ ids: [org.dave.id, UNKNOWN.member] }), 'ids[1]'],
    ['an id twice', REMOVE, () => ({ ids: [org.dave.id, org.dave.id] }), 'ids[1]'],
    ['items in place of ids', REMOVE, () => ({ items: [{ id: org.dave.id }] }), 'ids'],
  ])('with %s is refused', async (_, path, body, field) => {
    await expectRefused(
      api.http,
      org,
      { key: org.adminKey, path: `/api/v1${path}`, body: body() },
      badField(field),
    );
  });

  it('reports foreign and unknown ids alike', async () => {
    const theirs = await api.createOrganization();
    for (const [path, bodyFor, field] of [
      [UPDATE, (id: string) => ({ items: [{ id, name: 'x' }] }), 'items[0].id'],
      [REMOVE, (id: string) => ({ ids: [id] }), 'ids[0]'],
    ] as const) {
      const ask = (id: string) => ({ key: org.adminKey, path: `/api/v1${path}`, body: bodyFor(id) });
      const one = await expectRefused(api.http, org, ask(theirs.dave.id), badField(field));
      const two = await expectRefused(api.http, org, ask(UNKNOWN.member), badField(field));
      expect(one.text.replaceAll(theirs.dave.id, '')).toBe(two.text.replaceAll(UNKNOWN.member, ''));
    }
  });

  it('with a read-only key is refused', async () => {
    for (const [path, body] of [
      [CREATE, created({})],
      [UPDATE, { items: [{ id: org.dave.id, name: 'x' }] }],
      [REMOVE, { ids: [org.dave.id] }],
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

describe('the proposals about members', () => {
  it('are listed by state, page by page, and one by one', async () => {
    const other = await api.createOrganization();
    const fetch = (path: string) => api.http.send({ key: other.readKey, path: `/api/v1${path}` });
    const made: string[] = [];
    for (let i = 0; i < 5; i += 1) {
      const proposal = await proposeChange(api.http, other, CREATE, {
        items: [{ name: `M${i}`, walletAddress: anAddress() }],
      });
      if (i < 2) await reject(api.http, other, proposal);
      made.unshift(proposal.id);
    }
    const group = await proposeChange(api.http, other, '/groups/proposals/create', {
      items: [{ name: 'G', memberIds: [] }],
    });
    const pages: string[] = [];
    let cursor = '';
    do {
      const { body } = await fetch(`/members/proposals?limit=2${cursor && `&cursor=${cursor}`}`);
      pages.push(...idsOf(body.data));
      expect(body.pagination.hasMore).toBe(body.pagination.cursor !== '');
      cursor = body.pagination.cursor;
    } while (cursor !== '');
    expect(pages).toEqual(made);
    expect(idsOf((await fetch('/members/proposals?status=open')).body.data)).toEqual(made.slice(0, 3));
    expect(idsOf((await fetch('/members/proposals?status=closed')).body.data)).toEqual(made.slice(3));
    expect(idsOf((await fetch('/proposals')).body.data)).toEqual([group.id, ...made]);
    expect(idsOf((await fetch('/proposals?resourceType=members&limit=1')).body.data)).toEqual(
      made.slice(0, 1),
    );
    const [first] = (await fetch('/members/proposals?limit=1')).body.data;
    expect((await fetch(`/members/proposals/${made[0]}`)).body.data).toEqual(first);
    // Each resource has its own.
    expect((await fetch(`/groups/proposals/${made[0]}`)).status).toBe(404);
    expect((await fetch(`/members/proposals/${group.id}`)).status).toBe(404);
    const { approvePayload } = group.signingPayloads;
    const body = { type: 'approve', signature: await signPayload(other.alice, approvePayload) };
    const path = `/api/v1/members/proposals/${group.id}/signatures`;
    expect((await api.http.send({ key: other.adminKey, path, body })).status).toBe(404);
    const { cursor: foreign } = (await fetch('/members/proposals?limit=1')).body.pagination;
    expect((await fetch(`/groups/proposals?cursor=${foreign}`)).status).toBe(400);
    expect((await fetch('/members/proposals?status=finished')).status).toBe(400);
  });
});

it('everything that happened is in the audit log', async () => {
  expect(await verifyAudit(api.db, org.id)).toMatchObject({ ok: true });
});
