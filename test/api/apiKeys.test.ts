import { randomUUID } from 'node:crypto';
import { endpoints, scopeOf } from '../../src/api/endpoints';
import { issueApiKey, rotateApiKey } from '../../src/credentials/apiKeys';
import { OPERATOR } from '../../src/domain/actor';
import { SCOPES, type Scope } from '../../src/domain/keyRights';
import { PROPOSE, type Shown, sharedApi } from '../support/api';
import { operations, urlOf } from '../support/document';
import { type Furnished, furnish, newTransactionOf } from '../support/furnished';
import type { TestOrganization, TestService } from '../support/service';
import { type Browser, sent, signIn } from '../support/session';
import { storeRequest } from '../support/storedRequests';
import { transactionPath } from '../support/transactionApi';
import { until } from '../support/until';

let api: TestService;
let org: TestOrganization;
let own: Furnished;
let alice: Browser;

beforeAll(async () => {
  api = await sharedApi();
  org = await api.createOrganization();
  own = await furnish(api, org);
  alice = await signIn(api, org.alice);
});
afterAll(() => api?.stop());

const keyOf = (rights: object = {}) => ({
  ...{ name: 'Payroll', memberIds: [org.bot.id], scopes: ['read', 'request'] },
  ...rights,
});

async function issued(rights: object = {}): Promise<Shown> {
  const answer = await sent(alice, 'POST', '/api-keys', keyOf(rights));
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.data;
}

const listed = async (browser = alice) => (await sent(browser, 'GET', '/api-keys')).body.data;
const members = (key: string) => api.http.send({ key, path: '/api/v1/members' });

describe('API keys by the session of an admin', () => {
  it('are issued, shown once, listed and audited', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const limits = { networkIds: [31337], accountIds: [own.accounts[0].id], addressRanges: ['127.0.0.0/8'] };
    const { key, ...shown } = await issued({ ...limits, expiresAt });
    expect(key).toMatch(/^ow_live_[\w-]{43}$/);
    expect(shown).toEqual({
      ...keyOf(limits),
      ...{ id: shown.id, prefix: key.slice(0, 12), createdAt: shown.createdAt, expiresAt },
      ...{ lastUsedAt: null, revokedAt: null },
    });
    expect((await members(key)).status).toBe(200);
    const [found] = await listed();
    expect(found).toEqual({ ...shown, lastUsedAt: expect.any(String) });
    const [entry] = await api.db('audit_log').where({ resource_id: shown.id });
    expect([entry?.action, entry?.actor, entry?.details]).toEqual([
      'apiKey.issued',
      expect.objectContaining({ type: 'member', id: org.alice.id }),
      {
        after: { ...keyOf(limits), expiresAt },
        sessionId: alice.session.id,
      },
    ]);
    const { rows } = await api.db.raw(
      'SELECT k::text AS row FROM api_keys k UNION ALL SELECT l::text FROM audit_log l',
    );
    expect(JSON.stringify(rows)).not.toContain(key);
  });

  it('are revoked: refused from then on, and once', async () => {
    const { id, key } = await issued();
    expect((await members(key)).status).toBe(200);
    const first = await sent(alice, 'DELETE', `/api-keys/${id}`);
    expect([first.status, first.body.data.revokedAt]).toEqual([200, expect.any(String)]);
    await until('it is refused', async () => (await members(key)).status === 401, 2_000);
    const again = await sent(alice, 'DELETE', `/api-keys/${id}`);
    expect(again.body).toEqual(first.body);
    expect(await api.db('audit_log').where({ resource_id: id }).orderBy('position').pluck('action')).toEqual([
      'apiKey.issued',
      'apiKey.revoked',
    ]);
  });

  it('are at most a hundred that are valid, also where many are issued at once, and a list is bounded', async () => {
    const other = await api.createOrganization();
    const admin = await signIn(api, other.alice);
    const issueMany = (count: number) =>
      api.db.transaction(async (tx) => {
        const ids: string[] = [];
        const key = { organizationId: other.id, memberIds: [other.bot.id], actor: OPERATOR };
        for (let n = 0; n < count; n += 1) ids.push((await issueApiKey(tx, key)).id);
        return ids;
      });
    const keysOf = async () => (await sent(admin, 'GET', '/api-keys')).body.data as Shown[];
    await issueMany(97 - (await keysOf()).length);
    const asked = await Promise.all(
      Array.from({ length: 8 }, () =>
        admin.send({
          ...{ method: 'POST', path: '/api-keys', idempotencyKey: null },
          body: { name: 'Many', memberIds: [other.bot.id], scopes: ['read'] },
        }),
      ),
    );
    expect(asked.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409, 409, 409]);
    expect(asked.find(({ status }) => status === 409)?.body).toMatchObject({
      code: 'conflict',
      message: 'the organization has 100 API keys, the maximum: revoke one that is not used',
    });
    await expect(issueMany(1)).rejects.toThrow('the organization has 100 API keys');
    const [kept, ...others] = (await keysOf()).reverse();
    // One that takes the place of another is not one more.
    await api.db.transaction((tx) => rotateApiKey(tx, { apiKeyId: others.at(-1)?.id, actor: OPERATOR }));
    for (let round = 0; round < 2; round += 1) {
      await api
        .db('api_keys')
        .where({ organization_id: other.id })
        .whereNot({ id: kept?.id })
        .update({ revoked_at: api.db.fn.now() });
      await issueMany(99);
    }
    const listedNow = await keysOf();
    expect(listedNow).toHaveLength(200);
    expect(listedNow.filter(({ revokedAt }) => revokedAt === null)).toHaveLength(100);
    expect(listedNow.at(-1)?.id).toBe(kept?.id);
    expect(listedNow.map(({ id }) => id)).not.toContain(others[0]?.id);
  });

  it('are for admins: neither for other members, nor for a key, nor of another organization', async () => {
    const { id } = await issued();
    const dave = await signIn(api, org.dave);
    for (const [method, path, body] of [
      ['GET', '/api-keys', undefined],
      ['POST', '/api-keys', keyOf()],
      ['DELETE', `/api-keys/${id}`, undefined],
    ] as const) {
      const refused = await sent(dave, method, path, body);
      expect([refused.status, refused.body.message]).toEqual([403, 'requires the session of an admin']);
      const byKey = await api.http.send({
        ...{ key: org.adminKey, method, path, idempotencyKey: null },
        ...(body ? { body } : {}),
      });
      // A change has to come from a page of the service, before anybody asks whose session it is.
      expect([method, byKey.status, byKey.body.code]).toEqual(
        method === 'GET' ? [method, 401, 'unauthorized'] : [method, 403, 'forbidden'],
      );
    }
    const other = await api.createOrganization();
    const stranger = await signIn(api, other.alice);
    for (const unknown of [id, 'key_01jz8k3v5fe5ht0n2m6w9r4xyz', 'x', '%00']) {
      const { status } = await sent(stranger, 'DELETE', `/api-keys/${unknown}`);
      expect([unknown, status]).toEqual([unknown, 404]);
    }
    expect((await listed(stranger)).map((one: Shown) => one.id)).not.toContain(id);
    const foreign = await sent(stranger, 'POST', '/api-keys', keyOf());
    expect([foreign.status, foreign.body.error.details.field]).toEqual([400, 'memberIds[0]']);
  });

  it.each<[string, object, string]>([
    ['no name', { name: '' }, 'name'],
    ['no member', { memberIds: [] }, 'memberIds'],
    ['no scope', { scopes: [] }, 'scopes'],
    ['an unknown scope', { scopes: ['sign'] }, 'scopes[0]'],
    ['a scope twice', { scopes: ['read', 'read'] }, 'scopes[1]'],
    ['a network that is not configured', { networkIds: [5] }, 'networkIds[0]'],
    ['no network', { networkIds: [] }, 'networkIds'],
    ['an unknown account', { accountIds: ['acc_01jz8k3v5fe5ht0n2m6w9r4xyz'] }, 'accountIds[0]'],
    ['a range that is none', { addressRanges: ['127.0.0.1'] }, 'addressRanges[0]'],
    ['a range of IPv4 within IPv6', { addressRanges: ['64:ff9b::1.2.3.4/96'] }, 'addressRanges[0]'],
    ['a range that is too long', { addressRanges: ['127.0.0.1/33'] }, 'addressRanges[0]'],
    ['a time that is past', { expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    ['operations of some accounts', { scopes: ['propose'], networkIds: [31337] }, 'scopes'],
    ['a field that is unknown', { admin: true }, 'admin'],
  ])('are not issued with %s', async (_, wrong, field) => {
    // Other files make keys meanwhile: only those of this organization count.
    const counted = () => api.db('api_keys').where({ organization_id: org.id }).count();
    const before = await counted();
    const { status, body } = await sent(alice, 'POST', '/api-keys', keyOf(wrong));
    expect([status, body.error?.details?.field]).toEqual([400, field]);
    expect(await counted()).toEqual(before);
  });

  it('are not issued for a person', async () => {
    const { body } = await sent(alice, 'POST', '/api-keys', keyOf({ memberIds: [org.bot.id, org.dave.id] }));
    expect(body.error.details).toMatchObject({ field: 'memberIds[1]' });
    expect(body.message).toMatch(/is a person/);
  });
});

describe('the scopes of a key', () => {
  it('are declared for every endpoint', () => {
    expect(endpoints.filter((one) => !SCOPES.includes(scopeOf(one)))).toEqual([]);
    const needed = new Map(endpoints.map((one) => [one.id, scopeOf(one)]));
    expect(operations.map(({ id }) => id).filter((id) => !needed.has(id))).toEqual([]);
    // Nothing that changes something is for reading.
    const reads = endpoints.filter((one) => scopeOf(one) === 'read');
    expect(reads.filter(({ method, dryRun }) => method !== 'get' && !dryRun)).toEqual([]);
  });

  it('decide which endpoints it may use, and the refusal names the one that it lacks', async () => {
    const lacking: { [scope in Scope]: string } = {
      read: (await issued({ scopes: ['request', 'propose', 'webhooks'] })).key,
      request: (await issued({ scopes: ['read', 'propose', 'webhooks'] })).key,
      propose: (await issued({ scopes: ['read', 'request', 'webhooks'] })).key,
      webhooks: (await issued({ scopes: ['read', 'request', 'propose'] })).key,
    };
    const scopes = new Map(endpoints.map((one) => [one.id, scopeOf(one)]));
    for (const operation of operations) {
      const scope = scopes.get(operation.id) ?? 'read';
      const ask = {
        method: operation.method.toUpperCase(),
        path: urlOf(operation),
        ...(operation.body ? { body: operation.body.example } : {}),
      };
      const refused = await api.http.send({ ...ask, key: lacking[scope] });
      expect([operation.id, refused.status, refused.body.error?.details?.scope]).toEqual([
        ...[operation.id, 403, scope],
      ]);
      const [other] = SCOPES.filter((one) => one !== scope);
      const permitted = await api.http.send({ ...ask, key: lacking[other ?? 'read'] });
      expect([operation.id, permitted.body.error?.details?.scope]).toEqual([operation.id, undefined]);
    }
  }, 120_000);

  it('of a key that an operator has issued are all', async () => {
    const { key, id } = await api.db.transaction((tx) =>
      issueApiKey(tx, { organizationId: org.id, memberIds: [org.bot.id], actor: OPERATOR }),
    );
    const items = [{ name: `By an old key ${Date.now()}`, networkIds: [31337] }];
    expect((await api.http.send({ key, path: PROPOSE, body: { items } })).status).toBe(201);
    expect((await listed()).find((one: Shown) => one.id === id)).toMatchObject({
      ...{ name: null, scopes: [...SCOPES], networkIds: null, accountIds: null, addressRanges: null },
    });
  });
});

describe('the limits of a key', () => {
  const create = (key: string) =>
    api.http.send({ key, path: '/api/v1/transactions', body: newTransactionOf(own) });

  it('keep it to accounts and networks', async () => {
    const { accountId, networkId } = newTransactionOf(own);
    const fitting = await issued({ accountIds: [accountId], networkIds: [networkId] });
    const created = await create(fitting.key);
    expect(created.status).toBe(201);
    const elsewhere = await issued({ networkIds: [31338] });
    const refused = await create(elsewhere.key);
    expect([refused.status, refused.body.message]).toEqual([
      403,
      `the API key is not for network ${networkId}`,
    ]);
    const signature = `0x${'5e'.repeat(65)}`;
    for (const [word, body] of [
      ['/signatures', { type: 'initiator', signature, execute: false }],
      ['/execute', { type: 'approve' }],
    ] as const) {
      const { id } = created.body.data;
      const ask = { path: transactionPath(id, word), body, idempotencyKey: randomUUID() };
      // The same of a request that another key has made, and nobody has finished.
      const made = { organizationId: org.id, credentialId: fitting.id, key: ask.idempotencyKey, ...ask };
      for (const beginning of [async () => {}, () => storeRequest(api.db, { ...made, resourceId: id })]) {
        await beginning();
        const answer = await api.http.send({ key: elsewhere.key, ...ask });
        expect([word, answer.status, answer.body.message]).toEqual([word, 403, refused.body.message]);
      }
    }
  });

  it('keep it to where its requests come from', async () => {
    expect((await members((await issued({ addressRanges: ['::1/128', '127.0.0.1/32'] })).key)).status).toBe(
      200,
    );
    const elsewhere = await issued({ addressRanges: ['203.0.113.0/24', '2001:db8::/32'] });
    const refused = await members(elsewhere.key);
    expect([refused.status, refused.body.message]).toEqual([
      403,
      'the API key is not for requests from 127.0.0.1',
    ]);
  });
});

describe('the last use of a key', () => {
  it('is written once a minute, however many requests there are', async () => {
    const { id, key } = await issued();
    const lastUse = async () => (await api.db('api_keys').where({ id }).first('last_used_at'))?.last_used_at;
    await members(key);
    const first = await lastUse();
    expect(first).toBeInstanceOf(Date);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    await Promise.all(Array.from({ length: 20 }, () => members(key)));
    expect(await lastUse()).toEqual(first);
    await api
      .db('api_keys')
      .where({ id })
      .update({ last_used_at: new Date(Date.now() - 61_000) });
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    await members(key);
    expect((await lastUse())?.getTime()).toBeGreaterThanOrEqual(first?.getTime() ?? 0);
  });
});
