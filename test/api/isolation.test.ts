import { randomUUID } from 'node:crypto';
import {
  badField,
  carryOut,
  expectRefused,
  makeAccount,
  PROPOSE,
  proposalPath,
  propose,
  read,
  refusal,
  type Shown,
  startApi,
  stateOf,
  UNKNOWN,
  UPDATE,
} from '../support/api';
import type { Ask } from '../support/http';
import { signPayload, type TestOrganization, type TestService } from '../support/service';

let api: TestService;
let ours: TestOrganization;
let theirs: TestOrganization;
let theirAccount: Shown;
let theirProposal: Shown;
let ourProposal: Shown;

beforeAll(async () => {
  api = await startApi();
  [ours, theirs] = await Promise.all([api.createOrganization(), api.createOrganization()]);
  theirAccount = await makeAccount(api.http, theirs, { name: 'Theirs' });
  theirProposal = await propose(api.http, theirs);
  ourProposal = await propose(api.http, ours);
});
afterAll(() => api?.stop());

const NOT_FOUND = refusal(404, 'notFound', null);

/** Refused, and nothing has changed here or there. */
async function refusedHere(ask: Partial<Ask> & { path: string }, expected: ReturnType<typeof refusal>) {
  const before = await stateOf(api.http, theirs);
  const answer = await expectRefused(api.http, ours, { key: ours.adminKey, ...ask }, expected);
  expect(await stateOf(api.http, theirs)).toEqual(before);
  return answer;
}

describe('an id of another organization', () => {
  it('in a path is as unknown as any other', async () => {
    const approve = { type: 'approve' };
    const vote = {
      ...approve,
      signature: await signPayload(theirs.alice, theirProposal.signingPayloads.approvePayload),
    };
    const asks: [string, string, unknown?][] = [
      [`/api/v1/accounts/${theirAccount.id}`, `/api/v1/accounts/${UNKNOWN.account}`],
      [`/api/v1/accounts/${theirAccount.id}/balances`, `/api/v1/accounts/${UNKNOWN.account}/balances`],
      [`/api/v1/members/${theirs.alice.id}`, `/api/v1/members/${UNKNOWN.member}`],
      [`/api/v1/admins/${theirs.adminsId}`, `/api/v1/admins/${UNKNOWN.admins}`],
      [proposalPath(theirProposal.id), proposalPath(UNKNOWN.proposal)],
      [proposalPath(theirProposal.id, '/signatures'), proposalPath(UNKNOWN.proposal, '/signatures'), vote],
      [proposalPath(theirProposal.id, '/execute'), proposalPath(UNKNOWN.proposal, '/execute'), approve],
    ];
    for (const [foreign, unknown, body] of asks) {
      const one = await refusedHere({ path: foreign, body }, NOT_FOUND);
      const two = await refusedHere({ path: unknown, body }, NOT_FOUND);
      expect(one.text).toBe(two.text);
    }
  });

  it('in a body is as unknown as any other', async () => {
    const change = (id: string) => ({ items: [{ id, name: 'Ours' }] });
    const one = await refusedHere({ path: UPDATE, body: change(theirAccount.id) }, badField('items[0].id'));
    const two = await refusedHere({ path: UPDATE, body: change(UNKNOWN.account) }, badField('items[0].id'));
    expect(one.text.replaceAll(theirAccount.id, '')).toBe(two.text.replaceAll(UNKNOWN.account, ''));
  });

  it('in a query finds nothing', async () => {
    for (const id of [theirProposal.id, theirAccount.id, theirs.id]) {
      expect(await read(api.http, ours.readKey, `/api/v1/audit-logs?resourceId=${id}`)).toEqual([]);
    }
  });
});

describe.each([
  'mem_x',
  'acc_01jz8k3v5fe5ht0n2m6w9r4xyz0',
  'ACC_01jz8k3v5fe5ht0n2m6w9r4xyz',
  'acc_01JZ8K3V5FE5HT0N2M6W9R4XYZ',
  'acc_z1jz8k3v5fe5ht0n2m6w9r4xyz',
  '%00',
  '..',
  "'%20OR%201=1--",
  '%E0%A4%A',
])('a path with %p for an id', (id) => {
  it('has nothing at it', async () => {
    for (const path of [
      `/api/v1/accounts/${id}`,
      `/api/v1/accounts/${id}/balances`,
      `/api/v1/members/${id}`,
    ]) {
      await refusedHere({ path }, NOT_FOUND);
    }
    await refusedHere({ path: proposalPath(id) }, NOT_FOUND);
    await refusedHere({ path: proposalPath(id, '/execute'), body: { type: 'approve' } }, NOT_FOUND);
  });
});

describe('an organization', () => {
  it('sees its own members, admins, accounts, proposals and entries only', async () => {
    const ids = async (key: string, path: string) =>
      (await read(api.http, key, `/api/v1${path}`)).map(({ id }: Shown) => id);
    for (const path of [
      '/members',
      '/accounts',
      '/proposals',
      '/accounts/proposals',
      '/audit-logs?limit=100',
    ]) {
      const [here, there] = await Promise.all([ids(ours.readKey, path), ids(theirs.readKey, path)]);
      expect(here.filter((id: string) => there.includes(id))).toEqual([]);
    }
    expect((await read(api.http, ours.readKey, '/api/v1/members')).map(({ id }: Shown) => id).sort()).toEqual(
      ours.all.map(({ id }) => id).sort(),
    );
    expect((await read(api.http, ours.readKey, '/api/v1/admins')).id).toBe(ours.adminsId);
  });

  it('cannot go on with the cursor of another', async () => {
    for (const path of ['/members', '/proposals', '/accounts/proposals', '/audit-logs']) {
      if (path.includes('proposals')) await propose(api.http, theirs);
      const page = await api.http.send({ key: theirs.readKey, path: `/api/v1${path}?limit=1` });
      const { cursor } = page.body.pagination;
      expect(cursor).not.toBe('');
      await refusedHere({ path: `/api/v1${path}?cursor=${cursor}` }, badField('cursor'));
    }
  });

  it('cannot use the signatures of its admins elsewhere', async () => {
    const twin = await propose(api.http, theirs, { name: ourProposal.data.items[0].name });
    const payload = JSON.parse(ourProposal.signingPayloads.approvePayload);
    expect(JSON.parse(twin.signingPayloads.approvePayload).domain.salt).not.toBe(payload.domain.salt);
    const signature = await signPayload(theirs.alice, ourProposal.signingPayloads.approvePayload);
    await expectRefused(
      api.http,
      theirs,
      {
        key: theirs.adminKey,
        path: proposalPath(twin.id, '/signatures'),
        body: { type: 'approve', signature },
      },
      refusal(400, 'invalidSignature', 'signature'),
    );
  });

  it('does not share idempotency keys or accounts with another', async () => {
    const idempotencyKey = randomUUID();
    const body = { items: [{ name: 'Same', networkIds: [31337] }] };
    const answers = await Promise.all(
      [ours, theirs].map(({ adminKey }) =>
        api.http.send({ key: adminKey, path: PROPOSE, body, idempotencyKey }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    const done = await Promise.all([
      carryOut(api.http, ours, answers[0]?.body.data),
      carryOut(api.http, theirs, answers[1]?.body.data),
    ]);
    const accounts = await Promise.all([
      read(api.http, ours.readKey, done[0].result.resources[0].uri),
      read(api.http, theirs.readKey, done[1].result.resources[0].uri),
    ]);
    expect(accounts[0].address).not.toBe(accounts[1].address);
  });
});
