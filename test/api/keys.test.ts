import { randomBytes } from 'node:crypto';
import { issueApiKey, revokeApiKey, rotateApiKey } from '../../src/credentials/apiKeys';
import { OPERATOR } from '../../src/domain/actor';
import {
  expectRefused,
  PROPOSE,
  proposalPath,
  propose,
  read,
  refusal,
  type Shown,
  startApi,
  UNKNOWN,
  UPDATE,
} from '../support/api';
import {
  sign,
  signPayload,
  type TestMember,
  type TestOrganization,
  type TestService,
} from '../support/service';
import { until } from '../support/until';

const UNAUTHORIZED = refusal(401, 'unauthorized', null);
const FORBIDDEN = refusal(403, 'forbidden', null);
const body = { items: [{ name: 'Treasury', networkIds: [31337] }] };

let api: TestService;
let org: TestOrganization;
let proposal: Shown;

const MAX_OPEN = 3;

beforeAll(async () => {
  api = await startApi({ env: { MAX_OPEN_PER_KEY: String(MAX_OPEN) } });
  org = await api.createOrganization();
  proposal = await propose(api.http, org);
});
afterAll(() => api?.stop());

function issue(members: readonly TestMember[], expiresAt?: Date) {
  const memberIds = members.map(({ id }) => id);
  const more = expiresAt === undefined ? {} : { expiresAt };
  return api.db.transaction((tx) =>
    issueApiKey(tx, { organizationId: org.id, memberIds, actor: OPERATOR, ...more }),
  );
}

const status = async (key: string) => (await api.http.send({ key, path: '/api/v1/members' })).status;

/** The key neither reads nor proposes. */
async function expectDead(key: string) {
  await expectRefused(api.http, org, { key, path: '/api/v1/members' }, UNAUTHORIZED);
  await expectRefused(api.http, org, { key, path: PROPOSE, body }, UNAUTHORIZED);
}

describe('a request without a valid key', () => {
  const random = randomBytes(32).toString('base64url');
  it.each<[string, () => Record<string, string>]>([
    ['no key', () => ({})],
    ['an empty header', () => ({ authorization: '' })],
    ['a scheme alone', () => ({ authorization: 'Bearer' })],
    ['another scheme', () => ({ authorization: `Basic ${Buffer.from(org.adminKey).toString('base64')}` })],
    ['the key alone', () => ({ authorization: org.adminKey })],
    ['two keys', () => ({ authorization: `Bearer ${org.adminKey} ${org.adminKey}` })],
    ['another prefix', () => ({ authorization: `Bearer ow_test_${random}` })],
    ['a key that is too short', () => ({ authorization: `Bearer ${org.adminKey.slice(0, -1)}` })],
    ['a key that is too long', () => ({ authorization: `Bearer ${org.adminKey}A` })],
    ['a key with a character that is none', () => ({ authorization: `Bearer ow_live_${'*'.repeat(43)}` })],
    ['a key in other case', () => ({ authorization: `Bearer ${org.adminKey.toUpperCase()}` })],
    ['a key that was never issued', () => ({ authorization: `Bearer ow_live_${random}` })],
  ])('%s is refused', async (_, headers) => {
    const answer = await expectRefused(
      api.http,
      org,
      { path: '/api/v1/members', headers: headers() },
      UNAUTHORIZED,
    );
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    await expectRefused(api.http, org, { path: PROPOSE, body, headers: headers() }, UNAUTHORIZED);
  });

  it('learns nothing about paths, bodies and methods', async () => {
    for (const ask of [
      { path: '/api/v1/nothing' },
      { path: '/api/v1' },
      { path: '/api/v1/accounts?unknown=1' },
      { path: proposalPath(proposal.id) },
      { path: PROPOSE, body: '{' },
      { path: PROPOSE, body, idempotencyKey: null },
      { path: '/api/v1/accounts', method: 'DELETE' },
      { path: '/api/v1/accounts', method: 'OPTIONS' },
      { path: '/api/v1/accounts', method: 'HEAD' },
    ]) {
      const answer = await api.http.send(ask);
      expect([ask, answer.status]).toEqual([ask, 401]);
    }
  });

  it('accepts the scheme in any case', async () => {
    const answer = await api.http.send({
      path: '/api/v1/members',
      headers: { authorization: `bearer  ${org.readKey}` },
    });
    expect(answer.status).toBe(200);
  });
});

describe('a key', () => {
  it('is refused at once after it is revoked', async () => {
    const { id, key } = await issue([org.bot]);
    expect(await status(key)).toBe(200);
    await api.db.transaction((tx) => revokeApiKey(tx, { apiKeyId: id, actor: OPERATOR }));
    await until('the key is refused', async () => (await status(key)) === 401, 2_000);
    await expectDead(key);
  });

  it('is replaced by its successor when it is rotated', async () => {
    const old = await issue([org.bot]);
    const next = await api.db.transaction((tx) => rotateApiKey(tx, { apiKeyId: old.id, actor: OPERATOR }));
    await expectDead(old.key);
    expect(await status(next.key)).toBe(200);
  });

  it('is refused from the instant of its expiry', async () => {
    const past = await issue([org.bot], new Date(Date.now() - 1_000));
    await expectDead(past.key);
    const soon = await issue([org.bot], new Date(Date.now() + 1_500));
    expect(await status(soon.key)).toBe(200);
    await until('the key is expired', async () => (await status(soon.key)) === 401, 3_000);
    await expectDead(soon.key);
  });

  it('is refused when all its members are removed', async () => {
    const lone = await api.createOrganization();
    expect(await status(lone.readKey)).toBe(200);
    await api
      .db('members')
      .where({ id: lone.otherBot.id })
      .update({ removed_at: api.db.raw('now()') });
    await until('the key is refused', async () => (await status(lone.readKey)) === 401, 2_000);
    expect(await status(lone.adminKey)).toBe(200);
  });
});

describe('a key of a member who is not an admin', () => {
  it('reads', async () => {
    for (const path of ['/members', '/accounts', '/admins', '/networks', '/proposals', '/audit-logs']) {
      expect((await api.http.send({ key: org.readKey, path: `/api/v1${path}` })).status).toBe(200);
    }
  });

  it('does not propose, sign or execute', async () => {
    const signature = await signPayload(org.alice, proposal.signingPayloads.approvePayload);
    for (const [path, sent] of [
      [PROPOSE, body],
      [UPDATE, { items: [{ id: UNKNOWN.account, name: 'x' }] }],
      [proposalPath(proposal.id, '/signatures'), { type: 'approve', signature }],
      [proposalPath(proposal.id, '/execute'), { type: 'approve' }],
      [proposalPath(UNKNOWN.proposal, '/execute'), { type: 'approve' }],
    ] as const) {
      await expectRefused(api.http, org, { key: org.readKey, path, body: sent }, FORBIDDEN);
    }
  });

  it('gets 400 for an invalid body before 403', async () => {
    const answer = await api.http.send({ key: org.readKey, path: PROPOSE, body: {} });
    expect([answer.status, answer.body.error.details.field]).toEqual([400, 'items']);
  });

  it('may propose when another of its members is an admin', async () => {
    const { key } = await issue([org.otherBot, org.bot]);
    expect((await api.http.send({ key, path: PROPOSE, body })).status).toBe(201);
  });

  it('is what remains when its member is no longer an admin', async () => {
    const former = await api.createOrganization(1);
    await api.db('admin_set_members').where({ member_id: former.bot.id }).delete();
    await until(
      'the key may not propose',
      async () => (await api.http.send({ key: former.adminKey, path: PROPOSE, body })).status === 403,
      2_000,
    );
    await expectRefused(api.http, former, { key: former.adminKey, path: PROPOSE, body }, FORBIDDEN);
  });
});

describe('an admin key', () => {
  it('delivers signatures of others, and is named in the audit log', async () => {
    const answer = await sign(api.http, org.adminKey, proposal, org.alice, 'approve', { reason: 'Agreed' });
    expect(answer.status).toBe(200);
    const log = await api.http.send({
      key: org.readKey,
      path: `/api/v1/audit-logs?resourceId=${proposal.id}&action=proposal.signed`,
    });
    expect(log.body.data).toMatchObject([
      {
        actor: { type: 'member', id: org.alice.id, name: 'Alice', walletAddress: org.alice.wallet.address },
        details: { type: 'approve', reason: 'Agreed', apiKeyId: org.adminKeyId },
      },
    ]);
  });

  it('has a maximum of open proposals, and may create another when one is closed', async () => {
    const busy = await api.createOrganization(1);
    const open: Shown[] = [];
    for (let count = 0; count < MAX_OPEN; count += 1) open.push(await propose(api.http, busy));
    const ask = { key: busy.adminKey, path: PROPOSE, body };
    await expectRefused(api.http, busy, ask, refusal(409, 'conflict', null));
    const { key } = await api.db.transaction((tx) =>
      issueApiKey(tx, { organizationId: busy.id, memberIds: [busy.bot.id], actor: OPERATOR }),
    );
    expect((await api.http.send({ ...ask, key })).status).toBe(201);
    const closed = await sign(api.http, busy.adminKey, open[0], busy.alice, 'reject', { execute: true });
    expect(closed.body.data.executionStatus).toBe('rejected');
    expect((await api.http.send(ask)).status).toBe(201);
  });

  it('has no more of them where it asks for many at once', async () => {
    const eager = await api.createOrganization();
    const answers = await Promise.all(
      Array.from({ length: 4 * MAX_OPEN }, (_, i) =>
        api.http.send({
          key: eager.adminKey,
          path: PROPOSE,
          body: { items: [{ name: `At once ${i}`, networkIds: [31337] }] },
        }),
      ),
    );
    expect(answers.map(({ status }) => status).filter((code) => code === 201)).toHaveLength(MAX_OPEN);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(3 * MAX_OPEN);
    expect(await read(api.http, eager.readKey, '/api/v1/proposals?status=open')).toHaveLength(MAX_OPEN);
  });
});
