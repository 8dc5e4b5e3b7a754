import { randomUUID } from 'node:crypto';
import { issueApiKey } from '../../src/db/apiKeys';
import { OPERATOR } from '../../src/db/audit';
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
  sharedApi,
  UNKNOWN,
  UPDATE,
} from '../support/api';
import type { Answer, Ask } from '../support/http';
import { signPayload, type TestOrganization, type TestService } from '../support/service';

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

async function proposalsNamed(name: string): Promise<Shown[]> {
  const all = await read(api.http, org.readKey, '/api/v1/proposals?limit=100');
  return all.filter(({ data }: Shown) => data.items[0].name === name);
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

  it('after its retention is a new request', async () => {
    const idempotencyKey = randomUUID();
    const body = newBody();
    await send({ body, idempotencyKey });
    await api
      .db('idempotency_requests')
      .where({ key: idempotencyKey })
      .update({ created_at: api.db.raw(`now() - interval '24 hours'`) });
    const later = await send({ body: newBody(), idempotencyKey });
    expect(later.status).toBe(201);
    expect(later.headers['idempotency-replayed']).toBeUndefined();
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
    expect(await proposalsNamed(body.items[0]?.name ?? '')).toHaveLength(1);
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
