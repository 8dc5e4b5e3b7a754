/** @deep */

import {
  approve,
  asProposed,
  badField,
  carryOut,
  change,
  expectRefused,
  insist,
  organizationForEachTest,
  proposeChange,
  read,
  refusal,
  reject,
  type Shown,
  UNKNOWN,
} from '../support/api';
import { anAddress } from '../support/builders';
import { changeAdmins, decided } from '../support/decisions';
import { sign, type TestMember, type TestOrganization, type TestService } from '../support/service';
import { itDeep } from '../support/suite';
import { until } from '../support/until';

const PROPOSE = '/admins/proposals/update';

let api: TestService;
let org: TestOrganization;

// Each test changes the admins of an organization of its own.
organizationForEachTest((...own) => {
  [api, org] = own;
});

const get = (path: string) => read(api.http, org.readKey, `/api/v1${path}`);
const send = (body: object) => api.http.send({ key: org.adminKey, path: `/api/v1${PROPOSE}`, body });
const propose = (body: object) => proposeChange(api.http, org, PROPOSE, body);
const add = ({ id }: { id: string }) => ({ action: 'addMember', id });
const take = ({ id }: { id: string }) => ({ action: 'removeMember', id });
const summaryOf = ({ id, name, type, wallet }: TestMember) => ({
  id,
  name,
  type,
  walletAddress: wallet.address,
  walletKind: 'key',
});
const byId = <T extends { id: string }>(list: T[]) => list.sort((one, two) => (one.id < two.id ? -1 : 1));
const queued = () => api.http.send({ key: org.readKey, path: '/api/v1/admins/proposals' });

describe('the admins', () => {
  it('are changed by a proposal, with their threshold', async () => {
    const updates = [add(org.dave), take(org.carol)];
    const answer = await send({ updates, threshold: 3 });
    expect(answer.status).toBe(201);
    const created = answer.body.data;
    expect(answer.headers.location).toBe(`/api/v1/admins/proposals/${created.id}`);
    const members = byId([org.alice, org.bob, org.bot, org.dave].map(summaryOf));
    expect(created).toEqual(
      asProposed(created, {
        resourceType: 'admins',
        action: 'update',
        summary: `Change the admins: threshold 2 → 3, add 1, remove 1\nAdd "Dave" (user, ${org.dave.wallet.address})\nRemove "Carol" (${org.carol.wallet.address})`,
        data: { revision: 0, members, threshold: 3 },
      }),
    );
    const before = await get('/admins');
    expect(before.threshold).toBe(2);

    const done = await carryOut(api.http, org, created);
    expect(done).toMatchObject({ threshold: 2, executionStatus: 'completed' });
    expect(done.result).toEqual({
      resolution: 'approved',
      resources: [{ type: 'admin', id: org.adminsId, uri: `/api/v1/admins/${org.adminsId}` }],
    });
    expect(await get('/admins')).toEqual({
      ...{ id: org.adminsId, members, threshold: 3 },
      onChain: { enabled: false, safe: expect.stringMatching(/^0x/), networks: [] },
    });
    const [entry] = await get(`/audit-logs?resourceId=${org.adminsId}`);
    expect(entry).toMatchObject({
      action: 'admins.updated',
      resourceType: 'admin',
      details: {
        before: { threshold: 2, memberIds: before.members.map(({ id }: Shown) => id) },
        after: { threshold: 3, memberIds: members.map(({ id }) => id) },
        proposalId: created.id,
      },
    });
  });

  it('get a Safe that is a module of each account, and keep it until they decide otherwise', async () => {
    const { safe } = (await get('/admins')).onChain;
    const can = (threshold: number) =>
      `Admins' Safe ${safe}, a module of each account: ${threshold} of these admins can take each account over, without this service`;
    const on = await propose({ updates: [], threshold: 2, onChain: { enabled: true } });
    expect(on.summary).toBe(`Change the admins: threshold stays 2\n${can(2)}`);
    expect(on.data).toMatchObject({ onChain: true });
    await carryOut(api.http, org, on);
    expect((await get('/admins')).onChain).toEqual({ enabled: true, safe, networks: [] });
    await expectRefused(
      api.http,
      org,
      {
        ...{ key: org.adminKey, path: `/api/v1${PROPOSE}` },
        body: { updates: [], threshold: 2, onChain: { enabled: true, safe } },
      },
      badField('updates'),
    );
    const later = await propose({ updates: [], threshold: 1 });
    expect(later.summary).toBe(`Change the admins: threshold 2 → 1\n${can(1)}`);
    await carryOut(api.http, org, later);
    const off = await propose({ updates: [], threshold: 1, onChain: { enabled: false } });
    expect(off.summary).toContain(`\nAdmins' Safe ${safe}: no longer kept equal to the admins`);
    await carryOut(api.http, org, off);
    expect((await get('/admins')).onChain).toEqual({ enabled: false, safe, networks: [] });
  });

  it('own their Safe on the networks of the accounts, which says how it is', async () => {
    const ids = api.config.networks.map(({ id }) => id);
    await carryOut(api.http, org, await propose({ updates: [], threshold: 2, onChain: { enabled: true } }));
    const items = [{ name: 'Treasury', networkIds: ids }];
    const path = '/accounts/proposals/create';
    const done = await carryOut(api.http, org, await proposeChange(api.http, org, path, { items }));
    expect(done.executionStatus).toBe('completed');
    const onChain = await until('its Safe is current', async () => {
      const found = (await get('/admins')).onChain;
      const current = found.networks.filter(({ status }: Shown) => status === 'current');
      return current.length === ids.length && found;
    });
    const owners = [org.alice, org.bob, org.carol, org.bot].map(({ wallet }) => wallet.address).sort();
    expect(
      onChain.networks.map(({ owners: found, ...safe }: Shown) => ({ ...safe, owners: [...found].sort() })),
    ).toEqual(
      ids.map((networkId) => ({
        ...{ networkId, status: 'current', owners, threshold: 2, sequence: 1, reason: null },
        ...{ since: expect.any(String), observedAt: expect.any(String) },
      })),
    );
    const [account] = await until('it is ready', async () => {
      const accounts = await get('/accounts');
      return accounts[0].networks.every(({ rescue }: Shown) => rescue === 'ready') && accounts;
    });
    expect(account.networks.map(({ id }: Shown) => id)).toEqual(ids);
    // What was read can be sent back.
    const { id, name, networks } = account;
    const renamed = { items: [{ id, name: `${name} 2`, networks }] };
    expect((await proposeChange(api.http, org, '/accounts/proposals/update', renamed)).notes).toEqual([]);
    const clean = await propose({ updates: [], threshold: 3 });
    expect(clean.notes).toEqual([]);
    await carryOut(api.http, org, clean);
    await until('it is rolled', async () =>
      (await get('/admins')).onChain.networks.every(({ threshold }: Shown) => threshold === 3),
    );
  });

  itDeep('keep their members when only the threshold changes', async () => {
    const created = await propose({ updates: [], threshold: 4 });
    expect(created.summary).toBe('Change the admins: threshold 2 → 4');
    await carryOut(api.http, org, created);
    expect((await get('/admins')).threshold).toBe(4);
  });

  itDeep('change with the same threshold', async () => {
    const created = await propose({ updates: [add(org.dave)], threshold: 2 });
    expect(created.summary).toContain('Change the admins: threshold stays 2, add 1');
    await carryOut(api.http, org, created);
    expect((await get('/admins')).members).toHaveLength(5);
  });

  it('can all be replaced; then only the new ones vote', async () => {
    const bot = org.otherBot;
    const updates = [add(org.dave), add(bot), ...[org.alice, org.bob, org.carol, org.bot].map(take)];
    await carryOut(api.http, org, await propose({ updates, threshold: 1 }));
    expect((await get('/admins')).members).toEqual(byId([summaryOf(org.dave), summaryOf(bot)]));
    const ask = {
      key: org.adminKey,
      path: `/api/v1${PROPOSE}`,
      body: { updates: [add(org.alice)], threshold: 1 },
    };
    await expectRefused(api.http, org, ask, refusal(403, 'forbidden', null));
    const answer = await api.http.send({ ...ask, key: org.readKey });
    expect(answer.status).toBe(201);
    const old = await sign(api.http, org.readKey, answer.body.data, org.alice);
    expect([old.status, old.body.code]).toEqual([403, 'forbidden']);
    const done = await sign(api.http, org.readKey, answer.body.data, org.dave, 'approve', { execute: true });
    expect(done.body.data.executionStatus).toBe('completed');
  });

  itDeep('can be removed as members once they are no longer admins', async () => {
    const remove = '/members/proposals/remove';
    const ask = { key: org.adminKey, path: `/api/v1${remove}`, body: { ids: [org.carol.id] } };
    await expectRefused(api.http, org, ask, refusal(409, 'conflict', 'ids[0]'));
    await change(api.http, org, PROPOSE, { updates: [take(org.carol)], threshold: 2 });
    await change(api.http, org, remove, { ids: [org.carol.id] });
    expect((await api.http.send({ key: org.readKey, path: `/api/v1/members/${org.carol.id}` })).status).toBe(
      404,
    );
  });
});

describe('the queued proposal', () => {
  it('is unique, and is returned without its id', async () => {
    const none = await queued();
    expect([none.status, none.body.code]).toEqual([404, 'notFound']);
    const first = await propose({ updates: [], threshold: 3 });
    const { signingPayloads, ...shown } = first;
    const { initiatorPayload: _, ...payloads } = signingPayloads;
    expect((await queued()).body).toEqual({ data: { ...shown, signingPayloads: payloads } });
    expect(await get(`/admins/proposals/${first.id}`)).toEqual({ ...shown, signingPayloads: payloads });
    expect((await get('/proposals?resourceType=admins')).map(({ id }: Shown) => id)).toEqual([first.id]);
    const ask = {
      key: org.adminKey,
      path: `/api/v1${PROPOSE}`,
      body: { updates: [add(org.dave)], threshold: 2 },
    };
    const answer = await expectRefused(api.http, org, ask, refusal(409, 'conflict', null));
    expect(answer.body.message).toContain(first.id);

    await reject(api.http, org, first);
    expect((await queued()).status).toBe(404);
    const second = await propose({ updates: [], threshold: 3 });
    expect((await queued()).body.data.id).toBe(second.id);
    await carryOut(api.http, org, second);
    expect((await queued()).status).toBe(404);
  });

  itDeep('is one of fifty simultaneous proposals', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        insist(api.http, {
          key: org.adminKey,
          path: `/api/v1${PROPOSE}`,
          body: i % 2 === 0 ? { updates: [], threshold: 3 } : { updates: [add(org.dave)], threshold: 2 },
        }),
      ),
    );
    const made = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status, body }) => status === 409 && body.code === 'conflict');
    expect([made.length, refused.length]).toEqual([1, 49]);
    expect((await queued()).body.data.id).toBe(made[0]?.body.data.id);
    expect(await get('/proposals')).toHaveLength(1);
  });

  itDeep('does not wait for that of another organization', async () => {
    const mine = await propose({ updates: [], threshold: 3 });
    const other = await api.createOrganization();
    const theirs = await proposeChange(api.http, other, PROPOSE, { updates: [], threshold: 3 });
    expect((await queued()).body.data.id).toBe(mine.id);
    const path = `/api/v1/admins/proposals/${theirs.id}`;
    expect((await api.http.send({ key: org.readKey, path })).status).toBe(404);
  });

  it('accepts no query', async () => {
    for (const query of ['status=open', 'limit=1', 'cursor=']) {
      const path = `/api/v1/admins/proposals?${query}`;
      await expectRefused(api.http, org, { key: org.readKey, path }, badField(query.split('=')[0] ?? ''));
    }
  });
});

describe('a stale proposal is blocked', () => {
  const blocked = { executionStatus: 'blocked', failure: { code: 'stale' } };

  itDeep('when a new admin has left the organization', async () => {
    const proposed = await propose({ updates: [add(org.dave)], threshold: 2 });
    await change(api.http, org, '/members/proposals/remove', { ids: [org.dave.id] });
    const before = await get('/admins');
    const outcome = await approve(api.http, org, proposed);
    expect(outcome).toMatchObject(blocked);
    expect(outcome.failure.message).toContain('"Dave"');
    expect(await get('/admins')).toEqual(before);
  });

  itDeep('when the wallet or the name of an admin has changed', async () => {
    const update = '/members/proposals/update';
    const renamed = await propose({ updates: [add(org.dave)], threshold: 2 });
    await change(api.http, org, update, { items: [{ id: org.dave.id, name: 'David' }] });
    const refused = await approve(api.http, org, renamed);
    expect(refused).toMatchObject(blocked);
    expect(refused.failure.message).toContain('is shown as "Dave"');
    await reject(api.http, org, renamed);

    const proposed = await propose({ updates: [add(org.dave)], threshold: 3 });
    const wallet = anAddress();
    await change(api.http, org, update, { items: [{ id: org.dave.id, walletAddress: wallet }] });
    const outcome = await approve(api.http, org, proposed);
    expect(outcome).toMatchObject(blocked);
    expect(outcome.failure.message).toContain(wallet);
    expect((await get('/admins')).threshold).toBe(2);
  });

  it('when the admins have been changed, even when they are again who they were', async () => {
    const proposed = await propose({ updates: [take(org.carol)], threshold: 3 });
    const { memberIds } = (await decided(api.db, org)).admins;
    for (const now of [[...memberIds, org.dave.id], memberIds]) {
      await changeAdmins(api.db, org, { memberIds: now });
      const outcome = await approve(api.http, org, proposed);
      expect(outcome).toMatchObject(blocked);
      expect(outcome.failure.message).toBe('the set of admins has been changed since this was proposed');
      expect((await get('/admins')).members).toHaveLength(now.length);
    }
  });

  itDeep('not when only their rows are not who was decided: then they become it', async () => {
    const proposed = await propose({ updates: [take(org.carol)], threshold: 3 });
    await api.db('admin_set_members').insert({ organization_id: org.id, member_id: org.dave.id });
    await carryOut(api.http, org, proposed);
    expect(await get('/admins')).toMatchObject({
      id: org.adminsId,
      members: byId([org.alice, org.bob, org.bot].map(summaryOf)),
      threshold: 3,
    });
    expect(await get('/audit-logs?action=admin.differed')).toMatchObject([{ resourceId: org.adminsId }]);
  });
});

describe('a bad request about the admins', () => {
  it.each<[string, () => object, string]>([
    [
      'nobody left',
      () => ({ updates: [org.alice, org.bob, org.carol, org.bot].map(take), threshold: 1 }),
      'updates',
    ],
    ['no bot left', () => ({ updates: [take(org.bot)], threshold: 2 }), 'updates'],
    ['a threshold of 0', () => ({ updates: [], threshold: 0 }), 'threshold'],
    ['a threshold below 0', () => ({ updates: [], threshold: -1 }), 'threshold'],
    ['half a threshold', () => ({ updates: [], threshold: 2.5 }), 'threshold'],
    ['a threshold above the admins', () => ({ updates: [], threshold: 5 }), 'threshold'],
    [
      'a threshold above those who are left',
      () => ({ updates: [take(org.carol)], threshold: 4 }),
      'threshold',
    ],
    ['a threshold that is a text', () => ({ updates: [], threshold: '3' }), 'threshold'],
    ['no threshold', () => ({ updates: [add(org.dave)] }), 'threshold'],
    ['no updates', () => ({ threshold: 3 }), 'updates'],
    ['updates of another form', () => ({ updates: {}, threshold: 3 }), 'updates'],
    ['no change', () => ({ updates: [], threshold: 2 }), 'updates'],
    [
      'a stranger',
      () => ({ updates: [add(org.dave), add({ id: UNKNOWN.member })], threshold: 2 }),
      'updates[1].id',
    ],
    ['an admin to be added', () => ({ updates: [add(org.alice)], threshold: 2 }), 'updates[0].id'],
    [
      'a member to be removed who is not an admin',
      () => ({ updates: [take(org.dave)], threshold: 2 }),
      'updates[0].id',
    ],
    ['one member twice', () => ({ updates: [add(org.dave), add(org.dave)], threshold: 2 }), 'updates[1].id'],
    [
      'one member both ways',
      () => ({ updates: [add(org.dave), take(org.dave)], threshold: 2 }),
      'updates[1].id',
    ],
    [
      'an unknown action',
      () => ({ updates: [{ action: 'add', id: org.dave.id }], threshold: 2 }),
      'updates[0].action',
    ],
    [
      'an id of another kind',
      () => ({ updates: [add({ id: UNKNOWN.group })], threshold: 2 }),
      'updates[0].id',
    ],
    ['an unknown key', () => ({ updates: [], threshold: 3, admins: [] }), 'admins'],
    [
      'an unknown key in an update',
      () => ({ updates: [{ ...add(org.dave), role: 'x' }], threshold: 2 }),
      'updates[0].role',
    ],
    [
      '101 updates',
      () => ({ updates: Array.from({ length: 101 }, () => add(org.dave)), threshold: 2 }),
      'updates',
    ],
  ])('with %s is refused', async (_, body, field) => {
    await expectRefused(
      api.http,
      org,
      { key: org.adminKey, path: `/api/v1${PROPOSE}`, body: body() },
      badField(field),
    );
  });

  it('reports foreign and unknown ids alike', async () => {
    const theirs = await api.createOrganization();
    const ask = (id: string) => ({
      key: org.adminKey,
      path: `/api/v1${PROPOSE}`,
      body: { updates: [add({ id })], threshold: 2 },
    });
    const one = await expectRefused(api.http, org, ask(theirs.dave.id), badField('updates[0].id'));
    const two = await expectRefused(api.http, org, ask(UNKNOWN.member), badField('updates[0].id'));
    expect(one.text.replaceAll(theirs.dave.id, '')).toBe(two.text.replaceAll(UNKNOWN.member, ''));
  });

  it('with a read-only key is refused', async () => {
    const ask = { key: org.readKey, path: `/api/v1${PROPOSE}`, body: { updates: [], threshold: 3 } };
    await expectRefused(api.http, org, ask, refusal(403, 'forbidden', null));
  });
});
