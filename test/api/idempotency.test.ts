import { randomUUID } from 'node:crypto';
import { issueApiKey } from '../../src/credentials/apiKeys';
import { sweepRequests } from '../../src/db/idempotency';
import { requireRow } from '../../src/db/rows';
import { OPERATOR } from '../../src/domain/actor';
import {
  badField,
  expectRefused,
  PROPOSE,
  proposalPath,
  propose,
  read,
  refusal,
  refusalIn,
  type Shown,
  settled,
  sharedApi,
  UNKNOWN,
  UPDATE,
} from '../support/api';
import { anAddress } from '../support/builders';
import type { Answer, Ask } from '../support/http';
import { sign, signPayload, type TestOrganization, type TestService } from '../support/service';
import { storeRequest } from '../support/storedRequests';
import { aTransactionBody, TRANSACTIONS } from '../support/transactionApi';
import { NETWORK_ID } from '../support/transactions';
import { makePayer } from '../workflows/transactionWorld';

const FIELD = 'X-Idempotency-Key';
const CONFLICT = refusal(422, 'idempotencyConflict', FIELD);

let api: TestService;
let org: TestOrganization;

beforeAll(async () => {
  api = await sharedApi();
  org = await api.createOrganization();
});
afterAll(() => api?.stop());

let made = 0;
const newBody = () => {
  made += 1;
  return { items: [{ name: `Idempotent ${made}`, networkIds: [31337] }] };
};
const send = (ask: Partial<Ask>) => api.http.send({ key: org.adminKey, path: PROPOSE, ...ask });

/** The second answer is the first one again, byte for byte. */
function expectReplay(first: Answer, second: Answer) {
  expect(first.headers['idempotency-replayed']).toBeUndefined();
  expect(second.headers['idempotency-replayed']).toBe('true');
  expect([second.status, second.text, second.headers.location]).toEqual([
    first.status,
    first.text,
    first.headers.location,
  ]);
}

const requestsWith = (key: string) => api.db('idempotency_requests').where({ key });
const agedBy = (age: string) => api.db.raw('now() - ?::interval', [age]);
const nameIn = (body: ReturnType<typeof newBody>) => body.items[0]?.name ?? '';

/** As if a request had been sent and answered longer ago than its response is kept. */
async function pastRetention(idempotencyKey: string) {
  const before = agedBy('25 hours');
  await requestsWith(idempotencyKey).update({ created_at: before, answered_at: before });
}

async function proposalsNamed(name: string): Promise<Shown[]> {
  const all = await read(api.http, org.readKey, '/api/v1/proposals?limit=100');
  return all.filter(({ data }: Shown) => data.items?.[0].name === name);
}

describe('the idempotency key', () => {
  it.each<[string, string | null]>([
    ['missing', null],
    ['empty', ''],
    ['a word', 'once'],
    ['a UUID cut short', randomUUID().slice(0, -1)],
    ['a UUID without dashes', randomUUID().replaceAll('-', '')],
    ['a UUID in braces', `{${randomUUID()}}`],
    ['two UUIDs', `${randomUUID()}, ${randomUUID()}`],
  ])('%s is refused on every POST', async (_, idempotencyKey) => {
    const proposal = UNKNOWN.proposal;
    for (const path of [
      PROPOSE,
      UPDATE,
      proposalPath(proposal, '/signatures'),
      proposalPath(proposal, '/execute'),
    ]) {
      const headers: Record<string, string> = idempotencyKey === '' ? { 'x-idempotency-key': '' } : {};
      const ask = { key: org.adminKey, path, body: newBody(), idempotencyKey, headers };
      await expectRefused(api.http, org, ask, badField(FIELD));
    }
  });

  it('is checked before body, permission and path', async () => {
    const ask = { key: org.readKey, path: PROPOSE, body: '{', idempotencyKey: null };
    await expectRefused(api.http, org, ask, badField(FIELD));
  });

  it('is the same in capitals', async () => {
    const idempotencyKey = randomUUID();
    const body = newBody();
    const first = await send({ body, idempotencyKey });
    expectReplay(first, await send({ body, idempotencyKey: idempotencyKey.toUpperCase() }));
  });

  it('is not required on GET', async () => {
    const answer = await api.http.send({ key: org.readKey, path: '/api/v1/members', idempotencyKey: 'x' });
    expect(answer.status).toBe(200);
  });
});

describe('a request sent again', () => {
  it('gets the same response, byte for byte, and has no second effect', async () => {
    const idempotencyKey = randomUUID();
    const body = newBody();
    const first = await send({ body, idempotencyKey });
    expect(first.status).toBe(201);
    expect(first.headers.location).toBe(proposalPath(first.body.data.id));
    const before = await org.stored();
    expectReplay(first, await send({ body, idempotencyKey }));
    expectReplay(first, await send({ body, idempotencyKey }));
    expect(await org.stored()).toEqual(before);
  });

  it('is the same whatever the order of its keys, its white space and its escapes', async () => {
    const idempotencyKey = randomUUID();
    const first = await send({ body: '{"items":[{"name":"Café","networkIds":[31337]}]}', idempotencyKey });
    const again = '{ "items": [ { "networkIds": [ 31337.0 ],\n "name": "Caf\\u00e9" } ] }';
    expectReplay(first, await send({ body: again, idempotencyKey }));
  });

  it('gets the stored response, not the current state', async () => {
    const proposal = await propose(api.http, org);
    const votes = await Promise.all(
      [org.alice, org.bob].map(async (member) => ({
        path: proposalPath(proposal.id, '/signatures'),
        body: {
          type: 'reject',
          signature: await signPayload(member, proposal.signingPayloads.rejectPayload),
          execute: true,
        },
        idempotencyKey: randomUUID(),
      })),
    );
    const answers: Answer[] = [];
    for (const vote of votes) answers.push(await send(vote));
    expect(answers.map(({ body }) => body.data.executionStatus)).toEqual([null, 'rejected']);
    const before = await org.stored();
    for (const [index, vote] of votes.entries()) expectReplay(answers[index] as Answer, await send(vote));
    expect(await org.stored()).toEqual(before);
  });

  it('gets the same refusal for 404, 409 and 422', async () => {
    const proposal = await propose(api.http, org);
    const signature = await signPayload(org.alice, proposal.signingPayloads.approvePayload);
    const vote = { path: proposalPath(proposal.id, '/signatures'), body: { type: 'approve', signature } };
    expect((await send(vote)).status).toBe(200);
    const asks: [number, Partial<Ask>][] = [
      [404, { path: proposalPath(UNKNOWN.proposal, '/execute'), body: { type: 'approve' } }],
      [409, vote],
      [422, { path: proposalPath(proposal.id, '/execute'), body: { type: 'approve' } }],
    ];
    for (const [status, ask] of asks) {
      const idempotencyKey = randomUUID();
      const first = await send({ ...ask, idempotencyKey });
      expect(first.status).toBe(status);
      expectReplay(first, await send({ ...ask, idempotencyKey }));
    }
  });

  it('gets the stored response with another API key of the organization', async () => {
    const other = await api.db.transaction((tx) =>
      issueApiKey(tx, { organizationId: org.id, memberIds: [org.bot.id], actor: OPERATOR }),
    );
    const idempotencyKey = randomUUID();
    const body = newBody();
    const first = await send({ body, idempotencyKey });
    expectReplay(first, await send({ body, idempotencyKey, key: other.key }));
  });

  it('in another organization is another request', async () => {
    const other = await api.createOrganization();
    const idempotencyKey = randomUUID();
    const body = newBody();
    const first = await send({ body, idempotencyKey });
    const second = await send({ body, idempotencyKey, key: other.adminKey });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.headers['idempotency-replayed']).toBeUndefined();
    expect(second.body.data.id).not.toBe(first.body.data.id);
  });

  it('gets the stored response for its retention from the answer on, however long the answer took', async () => {
    const idempotencyKey = randomUUID();
    const body = newBody();
    const first = await send({ body, idempotencyKey });
    await requestsWith(idempotencyKey).update({ created_at: agedBy('25 hours') });
    await sweepRequests(api.db, api.config.idempotencyRetentionMs);
    expectReplay(first, await send({ body, idempotencyKey }));
    expect(await proposalsNamed(nameIn(body))).toHaveLength(1);
  });
});

describe('a key past its retention', () => {
  let payer: Awaited<ReturnType<typeof makePayer>>;

  beforeAll(async () => {
    payer = await makePayer(api, org, NETWORK_ID);
  });

  const payment = () => ({
    key: org.readKey,
    path: TRANSACTIONS,
    body: aTransactionBody(org, { ...payer, to: anAddress() }),
  });
  const change = () => ({ key: org.adminKey, path: PROPOSE, body: newBody() });
  const unswept = async () => undefined;
  const swept = () => sweepRequests(api.db, api.config.idempotencyRetentionMs).then(() => undefined);

  it.each([
    ['a payment', payment, unswept],
    ['a payment whose response is deleted', payment, swept],
    ['a proposal', change, unswept],
    ['a proposal whose response is deleted', change, swept],
  ])('answers the request of %s with its record as it is now', async (_, newAsk, forget) => {
    const ask = { ...newAsk(), idempotencyKey: randomUUID() };
    const first = await api.http.send(ask);
    expect(first.status).toBe(201);
    const place = String(first.headers.location);
    await pastRetention(ask.idempotencyKey);
    await forget();
    const before = await org.stored();
    const answers = await Promise.all(Array.from({ length: 8 }, () => api.http.send(ask)));
    const now = await api.http.send({ key: org.readKey, path: place });
    for (const later of answers) {
      expect([later.status, later.headers.location, later.headers['idempotency-replayed']]).toEqual([
        200,
        place,
        'true',
      ]);
      expect(later.body).toEqual(now.body);
    }
    expect(await org.stored()).toEqual(before);
  });

  it('shows what has become of the record', async () => {
    const ask = { ...change(), idempotencyKey: randomUUID() };
    const { data: proposal } = (await send(ask)).body;
    for (const member of [org.alice, org.bob]) {
      const { status } = await sign(api.http, org.adminKey, proposal, member, 'reject', { execute: true });
      expect(status).toBe(200);
    }
    await pastRetention(ask.idempotencyKey);
    const later = await send(ask);
    expect([later.status, later.body.data.id, later.body.data.executionStatus]).toEqual([
      200,
      proposal.id,
      'rejected',
    ]);
  });

  it('is refused with another content, another path, and by no credential of another organization', async () => {
    const ask = { ...change(), idempotencyKey: randomUUID() };
    const { data: proposal } = (await send(ask)).body;
    await pastRetention(ask.idempotencyKey);
    for (const other of [
      { body: newBody() },
      { path: proposalPath(proposal.id, '/execute'), body: { type: 'approve' } },
    ]) {
      await expectRefused(api.http, org, { ...ask, ...other }, CONFLICT);
    }
    const elsewhere = await api.createOrganization();
    const there = await send({ ...ask, key: elsewhere.adminKey });
    expect([there.status, there.body.data.id === proposal.id]).toEqual([201, false]);
  });

  it('is the one that the request was sent with first, whichever credential sends it later', async () => {
    const ask = { ...change(), idempotencyKey: randomUUID() };
    const first = await send(ask);
    await pastRetention(ask.idempotencyKey);
    const later = await send({ ...ask, key: org.readKey });
    expect([later.status, later.body.data.id]).toEqual([200, first.body.data.id]);
  });

  it('is compared with a hash that has one form for ever', async () => {
    const ask = { body: { items: [{ networkIds: [31337], name: 'Vector' }] }, idempotencyKey: randomUUID() };
    const { data } = (await send(ask)).body;
    const row = await api.db('approvals').where({ id: data.id }).first('idempotency_key', 'request_hash');
    expect([row?.idempotency_key, row?.request_hash?.toString('hex')]).toEqual([
      ask.idempotencyKey,
      '6f4fad6bac9ce4d40dd5e86f0805a1280dfbd08d993218bdc4686544dd21832a',
    ]);
  });

  it('of what was refused is free', async () => {
    const idempotencyKey = randomUUID();
    const path = proposalPath(UNKNOWN.proposal, '/execute');
    expect((await send({ path, body: { type: 'approve' }, idempotencyKey })).status).toBe(404);
    await pastRetention(idempotencyKey);
    expect((await send({ body: newBody(), idempotencyKey })).status).toBe(201);
  });

  it('of a vote counts no second vote', async () => {
    const proposal = await propose(api.http, org);
    const signature = await signPayload(org.carol, proposal.signingPayloads.approvePayload);
    const vote = {
      path: proposalPath(proposal.id, '/signatures'),
      body: { type: 'approve', signature },
      idempotencyKey: randomUUID(),
    };
    expect((await send(vote)).status).toBe(200);
    await pastRetention(vote.idempotencyKey);
    const before = await org.stored();
    expect((await send(vote)).status).toBe(409);
    expect(await org.stored()).toEqual(before);
  });

  it('of an execution executes nothing a second time', async () => {
    const proposal = await propose(api.http, org);
    for (const member of [org.alice, org.bob]) await sign(api.http, org.adminKey, proposal, member);
    const ask = {
      path: proposalPath(proposal.id, '/execute'),
      body: { type: 'approve' },
      idempotencyKey: randomUUID(),
    };
    expect((await send(ask)).status).toBe(200);
    await settled(api.http, org, proposal.id);
    await pastRetention(ask.idempotencyKey);
    const before = await org.stored();
    expect((await send(ask)).status).toBe(409);
    expect(await org.stored()).toEqual(before);
  });
});

describe('a key used again', () => {
  it('with another body is refused', async () => {
    const idempotencyKey = randomUUID();
    await send({ body: newBody(), idempotencyKey });
    for (const body of [newBody(), { items: [{ name: 'x', networkIds: [31338] }] }]) {
      await expectRefused(
        api.http,
        org,
        { key: org.adminKey, path: PROPOSE, body, idempotencyKey },
        CONFLICT,
      );
    }
  });

  it('with the same body on another path is refused', async () => {
    const [one, two] = await Promise.all([propose(api.http, org), propose(api.http, org)]);
    const idempotencyKey = randomUUID();
    const body = { type: 'approve' };
    expect((await send({ path: proposalPath(one.id, '/execute'), body, idempotencyKey })).status).toBe(422);
    await expectRefused(
      api.http,
      org,
      { key: org.adminKey, path: proposalPath(two.id, '/execute'), body, idempotencyKey },
      CONFLICT,
    );
  });

  it('with another body is refused before the permissions of its API key are checked', async () => {
    const idempotencyKey = randomUUID();
    await send({ body: newBody(), idempotencyKey });
    await expectRefused(
      api.http,
      org,
      { key: org.readKey, path: PROPOSE, body: newBody(), idempotencyKey },
      CONFLICT,
    );
  });

  it('with a body that an earlier version took gets what it got then, and carries out nothing', async () => {
    const [unanswered, answered] = [randomUUID(), randomUUID()];
    const old = { ...newBody(), before: 'the upgrade' };
    await expectRefused(api.http, org, { key: org.adminKey, path: PROPOSE, body: old }, badField('before'));
    const made = await propose(api.http, org, newBody().items[0]);
    const stored = { organizationId: org.id, credentialId: org.adminKeyId, path: PROPOSE, body: old };
    for (const key of [unanswered, answered]) {
      await storeRequest(api.db, { ...stored, key, resourceId: made.id });
    }
    const then = JSON.stringify({ data: { ...made, summary: 'As it was then.' } });
    const answer = { status: 201, response_body: then, location: proposalPath(made.id) };
    await requestsWith(answered).update({ ...answer, answered_at: api.db.fn.now() });
    const again = await send({ body: old, idempotencyKey: answered });
    expect([again.status, again.text, again.headers.location]).toEqual(Object.values(answer));
    expect(again.headers['idempotency-replayed']).toBe('true');

    // What is left of it once its response is not kept any more.
    const { request_hash } = requireRow(await requestsWith(answered).first());
    await api.db('approvals').where({ id: made.id }).update({ idempotency_key: answered, request_hash });
    await pastRetention(answered);
    const shown = await send({ body: old, idempotencyKey: answered });
    expect([shown.status, shown.body.data.id]).toEqual([200, made.id]);

    // Nothing of it is known to be done, and it cannot be: neither with this content nor with another one that is invalid.
    for (const [body, idempotencyKey] of [
      [old, unanswered],
      [{ ...old, before: 'something else' }, answered],
    ] as const) {
      const refused = await send({ body, idempotencyKey });
      expect([refused.status, refused.body.error.details.field]).toEqual([400, 'before']);
    }
  });

  it('is refused only after the body is validated', async () => {
    const idempotencyKey = randomUUID();
    await send({ body: newBody(), idempotencyKey });
    const ask = { key: org.adminKey, path: PROPOSE, body: { items: [] }, idempotencyKey };
    await expectRefused(api.http, org, ask, badField('items'));
  });

  it('can be used again after 400, 401 and 403', async () => {
    const refusals: [number, Partial<Ask>][] = [
      [400, { body: { items: [] } }],
      [400, { body: '{' }],
      [400, { body: { items: [{ name: 'x', networkIds: [5] }] } }],
      [400, { path: UPDATE, body: { items: [{ id: UNKNOWN.account, name: 'x' }] } }],
      [401, { body: newBody(), key: 'ow_live_x' }],
      [403, { body: newBody(), key: org.readKey }],
    ];
    for (const [status, ask] of refusals) {
      const idempotencyKey = randomUUID();
      expect((await send({ ...ask, idempotencyKey })).status).toBe(status);
      const answer = await send({ body: newBody(), idempotencyKey });
      expect(answer.status).toBe(201);
      expect(answer.headers['idempotency-replayed']).toBeUndefined();
    }
  });

  it('can be used again after an invalid signature', async () => {
    const proposal = await propose(api.http, org);
    const idempotencyKey = randomUUID();
    const path = proposalPath(proposal.id, '/signatures');
    const wrong = await send({ path, body: { type: 'approve', signature: '0x00' }, idempotencyKey });
    expect(wrong.body.code).toBe('invalidSignature');
    const signature = await signPayload(org.alice, proposal.signingPayloads.approvePayload);
    const right = await send({ path, body: { type: 'approve', signature }, idempotencyKey });
    expect(right.status).toBe(200);
  });
});

describe('requests with one key at the same time', () => {
  it('have one effect and one response', async () => {
    const idempotencyKey = randomUUID();
    const body = newBody();
    const answers = await Promise.all(Array.from({ length: 12 }, () => send({ body, idempotencyKey })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1);
    expect(await proposalsNamed(nameIn(body))).toHaveLength(1);
  });

  it('and different bodies have one success', async () => {
    const idempotencyKey = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => send({ body: newBody(), idempotencyKey })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(422)]);
    for (const answer of answers.filter(({ status }) => status === 422)) {
      expect(refusalIn(answer, CONFLICT)).toEqual(CONFLICT);
    }
  });

  it('record one vote', async () => {
    const proposal = await propose(api.http, org);
    const signature = await signPayload(org.carol, proposal.signingPayloads.approvePayload);
    const vote = {
      path: proposalPath(proposal.id, '/signatures'),
      body: { type: 'approve', signature },
      idempotencyKey: randomUUID(),
    };
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(vote)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
    const signed = await read(
      api.http,
      org.readKey,
      `/api/v1/audit-logs?resourceId=${proposal.id}&action=proposal.signed`,
    );
    expect(signed).toHaveLength(1);
  });
});
