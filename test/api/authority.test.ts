import { randomUUID } from 'node:crypto';
import { issueApiKey, revokeApiKey } from '../../src/credentials/apiKeys';
import { endSession } from '../../src/credentials/memberSessions';
import { newId } from '../../src/db/ids';
import { OPERATOR } from '../../src/domain/actor';
import { json } from '../cli/command';
import { proposalPath, propose, startApi } from '../support/api';
import { signingAsk, type TestOrganization, type TestService } from '../support/service';
import { type Browser, originOf, signIn } from '../support/session';
import { openConnection, parseAnswer } from '../support/sockets';
import { storeRequest } from '../support/storedRequests';
import { until } from '../support/until';

let api: TestService;
let org: TestOrganization;

beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.stop());
beforeEach(async () => {
  org = await api.createOrganization();
});

const ADMINS = '/api/v1/admins/proposals/update';
const adminChange = () => ({ updates: [{ id: org.carol.id, action: 'removeMember' }], threshold: 2 });
const open = () => api.db('approvals').where({ organization_id: org.id, closed_at: null }).pluck('id');

/** A key that has sent nothing yet. */
const newKey = () =>
  api.db.transaction((tx) =>
    issueApiKey(tx, { organizationId: org.id, memberIds: [org.bot.id], actor: OPERATOR }),
  );
const revoke = (apiKeyId: string) =>
  api.db.transaction((tx) => revokeApiKey(tx, { apiKeyId, actor: OPERATOR }));

/**
 * Sends the first half of a POST and waits until it is admitted, by the bucket of its rate limit; `meanwhile` happens; then
 * the second half follows.
 */
async function halves(
  { path, body, headers, bucket }: { path: string; body: object; headers: string[]; bucket: string },
  meanwhile: () => Promise<unknown>,
) {
  const text = JSON.stringify(body);
  const connection = openConnection(api, 'tls');
  connection.write(
    [
      `POST ${path} HTTP/1.1`,
      `Host: ${new URL(originOf(api)).host}`,
      ...headers,
      `X-Idempotency-Key: ${randomUUID()}`,
      'Content-Type: application/json',
      'Connection: close',
      `Content-Length: ${Buffer.byteLength(text)}`,
      '',
      text.slice(0, 5),
    ].join('\r\n'),
  );
  await until('the request is admitted', () => api.db('rate_limit_buckets').where({ bucket }).first());
  await meanwhile();
  connection.write(text.slice(5));
  return parseAnswer(await connection.closed);
}

const byKey = ({ id, key }: { id: string; key: string }) => ({
  headers: [`Authorization: Bearer ${key}`],
  bucket: id,
});

const bySession = ({ cookie, session }: Browser) => ({
  headers: [`Cookie: ${cookie}`, `Origin: ${originOf(api)}`, 'Sec-Fetch-Site: same-origin'],
  bucket: session.member.id,
});

const refusedWith = (code: string, message: RegExp) => ({
  code,
  message: expect.stringMatching(message),
});

describe('a request whose body is half sent', () => {
  it('creates nothing once its key is revoked', async () => {
    const thief = await newKey();
    const answer = await halves({ path: ADMINS, body: adminChange(), ...byKey(thief) }, () =>
      revoke(thief.id),
    );
    expect(answer.status).toBe(401);
    expect(answer.body).toMatchObject(refusedWith('unauthorized', /API key/));
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    expect(await open()).toEqual([]);
  });

  it('leaves nothing open after `keys revoke --close-open`', async () => {
    const thief = await newKey();
    const asThief = { ...org, adminKey: thief.key };
    const answer = await halves({ path: ADMINS, body: adminChange(), ...byKey(thief) }, async () => {
      const made = await propose(api.http, asThief);
      const revoked = await json(api.env, 'keys', 'revoke', thief.id, '--close-open');
      expect(revoked.closed).toEqual([made.id]);
    });
    expect(answer.status).toBe(401);
    expect(await open()).toEqual([]);
  });

  it('creates nothing once its member is no longer an admin', async () => {
    const demoted = await newKey();
    const answer = await halves({ path: ADMINS, body: adminChange(), ...byKey(demoted) }, () =>
      api.db('admin_set_members').where({ member_id: org.bot.id }).delete(),
    );
    expect(answer.status).toBe(403);
    expect(answer.body).toMatchObject(refusedWith('forbidden', /requires the API key of an admin/));
    expect(await open()).toEqual([]);
  });

  it('creates nothing once its session is signed out', async () => {
    const alice = await signIn(api, org.alice);
    const answer = await halves({ path: ADMINS, body: adminChange(), ...bySession(alice) }, () =>
      endSession(api.db, { id: alice.session.id, organizationId: org.id }),
    );
    expect(answer.status).toBe(401);
    expect(answer.body).toMatchObject(refusedWith('unauthorized', /session/));
    expect(await open()).toEqual([]);
  });

  it('delivers no vote and executes nothing once its key is revoked', async () => {
    const proposal = await propose(api.http, org);
    const vote = await signingAsk(org.adminKey, proposal, org.alice);
    for (const member of [org.bob, org.carol]) {
      expect((await api.http.send(await signingAsk(org.adminKey, proposal, member))).status).toBe(200);
    }
    for (const { path, body } of [
      { path: vote.path, body: vote.body as object },
      { path: proposalPath(proposal.id, '/execute'), body: { type: 'approve' } },
    ]) {
      const thief = await newKey();
      const answer = await halves({ path, body, ...byKey(thief) }, () => revoke(thief.id));
      expect(answer.status).toBe(401);
    }
    const votes = await api.db('votes').where({ approval_id: proposal.id }).pluck('member_id');
    expect(votes.sort()).toEqual([org.bob.id, org.carol.id].sort());
    const { execution_status: status } = (await api.db('approvals').where({ id: proposal.id }).first()) ?? {};
    expect(status).toBeNull();
  });

  it('registers no wallet once its key is revoked', async () => {
    const walletAddress = org.dave.wallet.address;
    const path = `/api/v1/members/registrations/payload?walletAddress=${walletAddress}`;
    const { messageToSign } = (await api.http.send({ key: org.readKey, path })).body.data;
    const signature = await org.dave.wallet.signMessage({ message: messageToSign });
    const thief = await newKey();
    const answer = await halves(
      { path: '/api/v1/members/registrations', body: { walletAddress, signature }, ...byKey(thief) },
      () => revoke(thief.id),
    );
    expect(answer.status).toBe(401);
    const { registered_at: registeredAt } =
      (await api.db('members').where({ id: org.dave.id }).first('registered_at')) ?? {};
    expect(registeredAt).toBeNull();
    // The text is not used up.
    const again = { path: '/api/v1/members/registrations', body: { walletAddress, signature } };
    expect((await api.http.send({ key: org.readKey, ...again })).status).toBe(200);
  });

  it('takes effect where its credential is still valid', async () => {
    const own = await newKey();
    const answer = await halves({ path: ADMINS, body: adminChange(), ...byKey(own) }, async () => undefined);
    expect(answer.status).toBe(201);
    expect(await open()).toEqual([answer.body.data.id]);
  });
});

describe('an unanswered request', () => {
  /** As an API that was killed leaves it: stored, and not sent on. */
  const storeUnsent = (ask: { path: string; body: object; idempotencyKey: string }, credentialId: string) =>
    storeRequest(api.db, {
      ...{ organizationId: org.id, credentialId, key: ask.idempotencyKey },
      ...{ path: ask.path, body: ask.body, resourceId: newId('prop') },
    });

  it('is not finished by its own key once that is no longer an admin’s', async () => {
    const { id, key } = await newKey();
    const idempotencyKey = randomUUID();
    const ask = { key, path: ADMINS, body: adminChange(), idempotencyKey };
    await storeUnsent(ask, id);
    await api.db('admin_set_members').where({ member_id: org.bot.id }).delete();
    expect((await api.http.send(ask)).status).toBe(403);
    expect(await open()).toEqual([]);
  });

  it('of a key that is revoked is finished by another key, as its own', async () => {
    const thief = await newKey();
    const idempotencyKey = randomUUID();
    const ask = { path: ADMINS, body: adminChange(), idempotencyKey };
    await storeUnsent(ask, thief.id);
    await revoke(thief.id);
    const answer = await api.http.send({ key: org.adminKey, ...ask });
    expect(answer.status).toBe(201);
    const entry = await api.db('audit_log').where({ resource_id: answer.body.data.id }).first('details');
    expect(entry?.details).toMatchObject({ apiKeyId: org.adminKeyId });
  });
});

describe('a session', () => {
  it('ends no other once it has ended itself', async () => {
    const [one, other] = [await signIn(api, org.alice), await signIn(api, org.alice)];
    const by = one.session.id;
    await endSession(api.db, { id: by, organizationId: org.id });
    const key = { id: other.session.id, organizationId: org.id, memberId: org.alice.id };
    expect(await endSession(api.db, { ...key, by })).toBe(false);
    expect((await other.send({ path: '/api/v1/members' })).status).toBe(200);
  });
});
