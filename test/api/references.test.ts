import { randomUUID } from 'node:crypto';
import { makeAccount, type Shown, sharedApi } from '../support/api';
import { anAddress } from '../support/builders';
import { anAnyPolicyItem } from '../support/policies';
import type { TestOrganization, TestService } from '../support/service';
import {
  aTransactionBody,
  createTransaction,
  makePolicies,
  readTransaction,
  signed,
  TRANSACTIONS,
  transactionPath,
} from '../support/transactionApi';

let api: TestService;
let org: TestOrganization;
let account: Shown;
let auto: Shown;
let approved: Shown;

const body = (more: object = {}, policy = auto) =>
  aTransactionBody(org, { account, policy, to: anAddress() }, more);

const create = (more: object, key = org.readKey) =>
  api.http.send({ key, path: TRANSACTIONS, body: body(more) });

const change = (id: string, more: object, options: { key?: string; idempotencyKey?: string } = {}) =>
  api.http.send({ key: org.readKey, path: transactionPath(id, '/references'), body: more, ...options });

async function list(path: string, query: string) {
  const answer = await api.http.send({ key: org.readKey, path: `/api/v1/${path}?${query}` });
  return { status: answer.status, data: answer.body.data as Shown[], pagination: answer.body.pagination };
}

const idsIn = async (query: string, path = 'transactions') =>
  (await list(path, query)).data.map(({ id }: Shown) => id);

async function entriesOf(id: string) {
  const answer = await api.http.send({ key: org.readKey, path: `/api/v1/audit-logs?resourceId=${id}` });
  return answer.body.data as Shown[];
}

beforeAll(async () => {
  api = await sharedApi();
  org = await api.createOrganization();
  account = await makeAccount(api.http, org, { networkIds: [31337] });
  [auto, approved] = await makePolicies(api.http, org, anAnyPolicyItem(), {
    ...anAnyPolicyItem(),
    name: 'Approved by Alice',
    type: 'MANUAL_APPROVAL',
    approverSetting: { type: 'user', memberId: org.alice.id },
  });
});
afterAll(() => api?.stop());

describe('an external id', () => {
  it('is unique in its organization, for ever: another transaction is refused with the first one', async () => {
    const externalId = `invoice-${randomUUID()}`;
    const first = await createTransaction(api.http, org, body({ externalId }));
    expect(first).toMatchObject({ externalId, metadata: {}, tags: [] });
    const second = await create({ externalId });
    expect([second.status, second.body.error.code, second.body.error.details]).toEqual([
      409,
      'conflict',
      expect.objectContaining({ field: 'externalId', transactionId: first.id }),
    ]);
    expect(await idsIn(`externalId=${externalId}`)).toEqual([first.id]);
    expect(await idsIn(`externalId=${externalId.toUpperCase()}`)).toEqual([]);
    // Rejected, it keeps it.
    const begun = await signed(api.http, org, first, org.dave, 'initiator');
    await signed(api.http, org, begun, org.dave, 'reject', { execute: true });
    expect((await create({ externalId })).status).toBe(409);
  });

  it('is given to one of many simultaneous requests', async () => {
    const externalId = `order-${randomUUID()}`;
    const answers = await Promise.all(Array.from({ length: 8 }, () => create({ externalId })));
    const created = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status === 409);
    expect([created.length, refused.length]).toEqual([1, 7]);
    const [id] = created.map(({ body: { data } }) => data.id);
    expect(refused.map(({ body: { error } }) => error.details.transactionId)).toEqual(refused.map(() => id));
  });

  it('is not needed: the same request with the same idempotency key is the same transaction', async () => {
    const asked = { key: org.readKey, path: TRANSACTIONS, idempotencyKey: randomUUID() };
    const sent = body({ externalId: `one-${randomUUID()}` });
    const first = await api.http.send({ ...asked, body: sent });
    const again = await api.http.send({ ...asked, body: sent });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body.data.id).toBe(first.body.data.id);
  });

  it('of another organization is not a conflict', async () => {
    const externalId = `shared-${randomUUID()}`;
    await createTransaction(api.http, org, body({ externalId }));
    const other = await api.createOrganization();
    const elsewhere = await makeAccount(api.http, other, { networkIds: [31337] });
    const [policy] = await makePolicies(api.http, other, anAnyPolicyItem());
    const to = anAddress();
    const made = await createTransaction(
      api.http,
      other,
      aTransactionBody(other, { account: elsewhere, policy: policy as Shown, to }, { externalId }),
    );
    expect(made.externalId).toBe(externalId);
  });
});

describe('metadata and tags', () => {
  it('are stored as they were sent, and in the audit entry of the creation', async () => {
    const given = {
      externalId: `ref-${randomUUID()}`,
      metadata: { costCenter: '4711', note: 'Größe "L"; =1+1' },
      tags: ['Payroll', 'May 2025'],
    };
    const made = await createTransaction(api.http, org, body(given));
    expect(await readTransaction(api.http, org, made)).toMatchObject(given);
    const [created] = (await entriesOf(made.id)).slice(-1);
    expect(created?.details).toMatchObject(given);
    expect(await idsIn('tag=payroll')).toEqual([made.id]);
    expect(await idsIn('tag=pay')).toEqual([]);
    expect(await idsIn(`text=${given.externalId}`)).toEqual([made.id]);
  });

  it('are replaced by whoever may request, whatever the state, each change audited', async () => {
    const made = await createTransaction(api.http, org, body({ metadata: { a: '1' }, tags: ['first'] }));
    const begun = await signed(api.http, org, made, org.dave, 'initiator');
    await signed(api.http, org, begun, org.dave, 'reject', { execute: true });
    const changed = await change(made.id, { metadata: { b: '2' } });
    expect([changed.status, changed.body.data.metadata, changed.body.data.tags]).toEqual([
      200,
      { b: '2' },
      ['first'],
    ]);
    const retagged = await change(made.id, { tags: ['Second'] });
    expect(retagged.body.data).toMatchObject({ metadata: { b: '2' }, tags: ['Second'] });
    expect(await readTransaction(api.http, org, made)).toMatchObject({
      metadata: { b: '2' },
      tags: ['Second'],
    });
    expect([await idsIn('tag=first'), await idsIn('tag=second')]).toEqual([[], [made.id]]);
    const [last, before] = await entriesOf(made.id);
    expect([last?.action, last?.details]).toEqual([
      'transaction.referencesChanged',
      expect.objectContaining({
        before: { metadata: { b: '2' }, tags: ['first'] },
        after: { metadata: { b: '2' }, tags: ['Second'] },
      }),
    ]);
    expect(before?.action).toBe('transaction.referencesChanged');
  });

  it('are found by a tag of the longest letters, and in any case', async () => {
    // Each is 18 letters once it is folded.
    const long = '\ufdfa'.repeat(50);
    const made = await createTransaction(
      api.http,
      org,
      body({ tags: [long, 'Gr\u00f6\u00dfe \u03a3\u0391\u03a3'] }),
    );
    const found = (tag: string) => idsIn(`tag=${encodeURIComponent(tag)}`);
    expect(await found(long)).toEqual([made.id]);
    expect(await found('GR\u00d6SSE  \u03c3\u03b1\u03c2')).toEqual([made.id]);
    expect(await found('%')).toEqual([]);
  });

  it('are kept whatever their keys and texts look like', async () => {
    const metadata = { constructor: 'x', toString: "'; DROP TABLE transactions; --", hasOwnProperty: '%_\\' };
    const made = await createTransaction(api.http, org, body({ metadata }));
    expect((await readTransaction(api.http, org, made)).metadata).toEqual(metadata);
    const raw = '{"metadata":{"a":"1","__proto__":"2"}}';
    const answer = await api.http.send({
      ...{ key: org.readKey, path: transactionPath(made.id, '/references'), body: Buffer.from(raw) },
    });
    expect(answer.status).toBe(400);
  });

  it('that change all the time hold no signature and no payment back', async () => {
    const [policy] = await makePolicies(api.http, org, {
      ...anAnyPolicyItem(),
      name: 'Approved while it is edited',
      type: 'MANUAL_APPROVAL',
      approverSetting: { type: 'user', memberId: org.alice.id },
    });
    const made = await createTransaction(api.http, org, body({}, policy));
    let isOver = false;
    const edit = async (name: string) => {
      for (let i = 0; !isOver; i += 1) await change(made.id, { metadata: { [name]: String(i) } });
    };
    const editing = Promise.all(['a', 'b', 'c'].map(edit));
    try {
      const begun = await signed(api.http, org, made, org.dave, 'initiator');
      const rejected = await signed(api.http, org, begun, org.alice, 'reject', { execute: true });
      expect(rejected.executionStatus).toBe('rejected');
    } finally {
      isOver = true;
      await editing;
    }
  });

  it('are changed once by one idempotency key, and nothing is audited that changes nothing', async () => {
    const made = await createTransaction(api.http, org, body());
    const idempotencyKey = randomUUID();
    const first = await change(made.id, { tags: ['x'] }, { idempotencyKey });
    const again = await change(made.id, { tags: ['x'] }, { idempotencyKey });
    expect(again.body).toEqual(first.body);
    const same = await change(made.id, { tags: ['x'] });
    expect(same.body.data.updatedAt).toBe(first.body.data.updatedAt);
    const changes = (await entriesOf(made.id)).filter(({ action }) => action !== 'transaction.created');
    expect(changes).toHaveLength(1);
  });

  it('leave what is signed as it was', async () => {
    const made = await createTransaction(api.http, org, body({ tags: ['x'], metadata: { a: '1' } }));
    const changed = await change(made.id, { tags: [], metadata: {} });
    expect(changed.body.data.signingPayloads).toEqual(made.signingPayloads);
    const done = await signed(api.http, org, made, org.dave, 'initiator');
    expect(done.signatureStatus).toBe('approvalReady');
  });

  it.each([
    [{ metadata: { 'with space': 'x' } }, 'metadata'],
    [{ metadata: { a: 'x'.repeat(501) } }, 'metadata.a'],
    [{ metadata: { a: 1 } }, 'metadata.a'],
    [{ metadata: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, ''])) }, 'metadata'],
    [
      { metadata: Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`k${i}`, 'x'.repeat(450)])) },
      'metadata',
    ],
    [{ metadata: { a: 'line\nbreak' } }, 'metadata.a'],
    [{ metadata: [] }, 'metadata'],
    [{ tags: ['a', 'A'] }, 'tags[1]'],
    [{ tags: [''] }, 'tags[0]'],
    [{ tags: ['x'.repeat(51)] }, 'tags[0]'],
    [{ tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }, 'tags'],
    [{}, 'body'],
    [{ externalId: 'new' }, 'externalId'],
  ])('are refused at their field: %j', async (bad, field) => {
    const made = await createTransaction(api.http, org, body());
    const answer = await change(made.id, bad);
    const { code, details } = answer.body.error;
    expect([answer.status, code]).toEqual([400, 'validationError']);
    expect(details.field.startsWith(field)).toBe(true);
  });

  it.each([
    [{ externalId: '' }, 'externalId'],
    [{ externalId: ' ' }, 'externalId'],
    [{ externalId: 'x'.repeat(101) }, 'externalId'],
    [{ externalId: 'a\u200bb' }, 'externalId'],
    [{ externalId: null }, 'externalId'],
  ])('an external id is refused: %j', async (bad, field) => {
    const answer = await create(bad);
    expect([answer.status, answer.body.error.details.field]).toEqual([400, field]);
  });

  it('of what another organization has are not found', async () => {
    const other = await api.createOrganization();
    const made = await createTransaction(api.http, org, body());
    expect((await change(made.id, { tags: ['x'] }, { key: other.readKey })).status).toBe(404);
  });
});

describe('filters', () => {
  it('find transactions of a network, and who is missing', async () => {
    const waiting = await createTransaction(api.http, org, body({}, approved));
    expect(await idsIn(`networkId=31337&policyId=${approved.id}`)).toEqual([waiting.id]);
    expect(await idsIn('networkId=31338')).toEqual([]);
    const missing = (id: string) => idsIn(`missingMemberId=${id}&policyId=${approved.id}`);
    expect([await missing(org.dave.id), await missing(org.alice.id)]).toEqual([[waiting.id], []]);
    const begun = await signed(api.http, org, waiting, org.dave, 'initiator');
    expect([await missing(org.dave.id), await missing(org.alice.id)]).toEqual([[], [waiting.id]]);
    await signed(api.http, org, begun, org.alice, 'approve');
    expect([await missing(org.dave.id), await missing(org.alice.id)]).toEqual([[], []]);
  });

  it('find proposals that name something, and wait for an admin', async () => {
    const answer = await api.http.send({
      key: org.adminKey,
      path: '/api/v1/policies/proposals/remove',
      body: { policyIds: [approved.id] },
    });
    const { id } = answer.body.data;
    expect(await idsIn(`policyId=${approved.id}&status=open`, 'proposals')).toEqual([id]);
    expect(await idsIn(`policyId=${auto.id}&status=open`, 'proposals')).toEqual([]);
    expect(await idsIn(`missingMemberId=${org.alice.id}`, 'proposals')).toEqual([id]);
    expect(await idsIn(`missingMemberId=${org.dave.id}`, 'proposals')).toEqual([]);
  });

  it.each([
    'networkId=0',
    'networkId=x',
    'tag=',
    'externalId=',
    'externalId=%00',
    'tag=%00',
    'tag=a&tag=b',
    'missingMemberId=acc_1',
  ])('refuse %s', async (query) => {
    expect((await list('transactions', query)).status).toBe(400);
  });

  it('refuse a member of nobody', async () => {
    const { id } = (await api.createOrganization()).dave;
    expect((await list('transactions', `missingMemberId=${id}`)).status).toBe(400);
  });
});
