/** @deep */

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { makeAccount, read, refusal, refusalIn, type Shown, sharedApi, startApi } from '../support/api';
import { anAddress } from '../support/builders';
import { anAnyPolicyItem, aPolicyItem, aTokenCondition } from '../support/policies';
import { startServiceProcess } from '../support/process';
import type { TestOrganization, TestService } from '../support/service';
import { networksFile, sharedStack } from '../support/stack';
import { itDeep } from '../support/suite';
import {
  aTransactionBody,
  createTransaction,
  executeTransaction,
  initiate,
  makePolicies,
  readTransaction,
  signatureBody,
  signed,
  TRANSACTIONS,
  transactionPath,
} from '../support/transactionApi';
import { transferData } from '../support/transactions';

let api: TestService;
let org: TestOrganization;
let one: Shown;
let two: Shown;
let auto: Shown;
/** Of both accounts, in the order in which they were made. */
const made: Shown[] = [];

const body = (more: object = {}, account = one) =>
  aTransactionBody(org, { account, policy: auto, to: anAddress() }, more);
const idsOf = (list: readonly Shown[]) => list.map(({ id }) => id);
const newestFirst = (list: readonly Shown[]) => idsOf(list).reverse();

async function list(query = '', of = org) {
  const answer = await api.http.send({ key: of.readKey, path: `${TRANSACTIONS}${query}` });
  if (answer.status !== 200) throw new Error(`listing ${query} → ${answer.status} ${answer.text}`);
  return answer.body as { data: Shown[]; pagination: { cursor: string; hasMore: boolean } };
}

/** Every page from the first to the last. */
async function pages(query: string): Promise<Shown[][]> {
  const found: Shown[][] = [];
  for (let cursor = ''; ; ) {
    const { data, pagination } = await list(`?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`);
    found.push(data);
    if (!pagination.hasMore) return found;
    cursor = pagination.cursor;
  }
}

beforeAll(async () => {
  api = await sharedApi();
  org = await api.createOrganization();
  [one, two] = await Promise.all([
    makeAccount(api.http, org, { networkIds: [31337] }),
    makeAccount(api.http, org, { networkIds: [31337] }),
  ]);
  [auto] = await makePolicies(api.http, org, anAnyPolicyItem());
  for (const account of [one, two, one, one, two]) {
    made.push(await createTransaction(api.http, org, body({}, account)));
  }
  // The second is rejected, the third waits to be executed.
  const begun = await signed(api.http, org, made[1], org.dave, 'initiator');
  made[1] = await signed(api.http, org, begun, org.dave, 'reject', { execute: true });
  made[2] = await signed(api.http, org, made[2], org.dave, 'initiator');
});
afterAll(() => api?.stop());

describe('the list of transactions', () => {
  it('has all, newest first, with the same fields as a single one', async () => {
    const { data, pagination } = await list();
    expect(idsOf(data)).toEqual(newestFirst(made));
    expect(pagination).toEqual({ cursor: '', hasMore: false });
    for (const shown of data) expect(shown).toEqual(await readTransaction(api.http, org, shown));
  });

  it('has pages of any size', async () => {
    for (const limit of [1, 2, 3, 5, 100]) {
      const found = await pages(`limit=${limit}`);
      expect(idsOf(found.flat())).toEqual(newestFirst(made));
      expect(found.map(({ length }) => length)).toEqual(
        Array.from({ length: Math.ceil(made.length / limit) }, (_, i) =>
          Math.min(limit, made.length - i * limit),
        ),
      );
    }
  });

  it('can be filtered by account', async () => {
    const ofTwo = made.filter(({ accountId }) => accountId === two.id);
    expect(idsOf((await list(`?accountId=${two.id}`)).data)).toEqual(newestFirst(ofTwo));
    expect(idsOf((await pages(`accountId=${one.id}&limit=1`)).flat())).toEqual(
      newestFirst(made.filter(({ accountId }) => accountId === one.id)),
    );
  });

  it('can be filtered by status', async () => {
    const rejected = [made[1]];
    const open = made.filter((transaction) => transaction !== made[1]);
    expect(idsOf((await list('?status=executed')).data)).toEqual(idsOf(rejected));
    expect(idsOf((await pages('status=queued&limit=2')).flat())).toEqual(newestFirst(open));
    const both = await list(`?status=queued&accountId=${two.id}`);
    expect(idsOf(both.data)).toEqual([made[4].id]);
  });

  it('has cursors that include their filters, and continue while transactions are added', async () => {
    const { pagination } = await list(`?accountId=${one.id}&status=queued&limit=1`);
    const { cursor } = pagination;
    made.push(await createTransaction(api.http, org, body()));
    const rest = await list(`?cursor=${cursor}`);
    expect(idsOf(rest.data)).toEqual([made[2].id, made[0].id]);
    expect(idsOf((await list(`?cursor=${cursor}&accountId=${one.id}&limit=1`)).data)).toEqual([made[2].id]);
    const refusals: [string, string][] = [
      [`cursor=${cursor}&accountId=${two.id}`, 'accountId'],
      [`cursor=${cursor}&status=executed`, 'status'],
      [`cursor=${cursor}x`, 'cursor'],
    ];
    for (const [query, field] of refusals) {
      const answer = await api.http.send({ key: org.readKey, path: `${TRANSACTIONS}?${query}` });
      const expected = refusal(400, 'validationError', field);
      expect([query, refusalIn(answer, expected)]).toEqual([query, expected]);
    }
  });

  it('can be filtered by policy, initiator, type, recipient and asset, also together', async () => {
    const [other] = await makePolicies(api.http, org, anAnyPolicyItem({ name: 'Rent' }));
    const token = sharedStack().chains[0]?.token.address ?? '';
    const to = anAddress();
    const rent = await createTransaction(api.http, org, body({ policyId: other.id, to }));
    const tokens = await createTransaction(
      api.http,
      org,
      body({ to: token, value: '0', data: transferData(to, 5n) }),
    );
    const call = await createTransaction(api.http, org, body({ to: token, value: '0', data: '0x12345678' }));
    const assetId = tokens.data.asset.id;
    const cases: readonly [query: string, found: readonly Shown[]][] = [
      [`policyId=${other.id}`, [rent]],
      [`policyId=${auto.id}&type=CONTRACT_INTERACTION`, [call]],
      [`recipient=${to}`, [tokens, rent]],
      [`recipient=${to.toLowerCase()}&assetId=${assetId}`, [tokens]],
      [`recipient=${token}`, [call]],
      [`assetId=${assetId.toLowerCase()}`, [tokens]],
      [`recipient=${to}&accountId=${two.id}`, []],
      [`recipient=${to}&initiatorId=${org.dave.id}&limit=1`, [tokens, rent]],
      [`initiatorId=${org.alice.id}`, []],
    ];
    for (const [query, found] of cases) {
      expect([query, idsOf((await pages(query)).flat())]).toEqual([query, idsOf(found)]);
    }
    made.push(rent, tokens, call);
  });

  it('can be searched by the beginnings of words, and by names as they are now', async () => {
    const to = anAddress();
    const named = await makeAccount(api.http, org, { name: 'Kanzlei Größe & Söhne', networkIds: [31337] });
    const salary = await createTransaction(
      api.http,
      org,
      body({ description: 'Salary: MAY/2026, größer', to }),
    );
    const fees = await createTransaction(api.http, org, body({ description: 'fees', to: named.address }));
    made.push(salary, fees);
    const cases: readonly [text: string, found: readonly Shown[]][] = [
      ['salary', [salary]],
      ['may sal', [salary]],
      ['GRÖSSE', []],
      ['größ', [fees, salary]],
      ['2026', [salary]],
      ['alary', []],
      [salary.id, [salary]],
      [to.slice(0, 12).toLowerCase(), [salary]],
      ['kanzlei', [fees]],
      ['& Söhne', [fees]],
      ["o'brien \\ :*", []],
    ];
    for (const [text, found] of cases) {
      const ids = idsOf((await list(`?text=${encodeURIComponent(text)}`)).data);
      expect([text, ids]).toEqual([text, idsOf(found)]);
    }
    const other = await api.createOrganization();
    expect((await list('?text=salary', other)).data).toEqual([]);
    const ofDave = idsOf((await pages(`text=dave&limit=4`)).flat());
    expect(ofDave).toEqual(newestFirst(made));
  });

  it('can be filtered by the time of creation, however it is written', async () => {
    const { createdAt } = made[2];
    const [from, later] = [createdAt, new Date(Date.parse(createdAt) + 1).toISOString()];
    const offset = `${new Date(Date.parse(createdAt) + 7_200_000).toISOString().slice(0, -1)}+02:00`;
    expect(idsOf((await list(`?from=${from}&to=${later}`)).data)).toEqual([made[2].id]);
    expect(idsOf((await list(`?from=${encodeURIComponent(offset)}&to=${later}`)).data)).toEqual([made[2].id]);
    expect(idsOf((await list(`?to=${from}`)).data)).toEqual(newestFirst(made.slice(0, 2)));
    expect(idsOf((await pages(`from=${later}&limit=2`)).flat())).toEqual(newestFirst(made.slice(3)));
  });

  it('has what is done, failed or expired by its status', async () => {
    const failed = await initiate(api.http, org, body({ value: '9'.repeat(30) }));
    made.push((await executeTransaction(api.http, org, failed, 'approve')).body.data);
    const expired = await createTransaction(api.http, org, body());
    made.push(expired);
    await api
      .db('approvals')
      .where({ id: expired.id })
      .update({ expires_at: new Date(Math.floor(Date.now() / 1_000) * 1_000 - 1_000) });
    expect(idsOf((await list('?status=done')).data)).toEqual([made[1].id]);
    expect(idsOf((await list('?status=failed')).data)).toEqual([failed.id]);
    expect(idsOf((await list('?status=expired')).data)).toEqual([expired.id]);
  });

  it('refuses filters that are not well-formed, and names that are not in the organization', async () => {
    const unknown = (id: string) => `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`;
    const refusals: [string, string][] = [
      [`policyId=${unknown(auto.id)}`, 'policyId'],
      [`initiatorId=${unknown(org.dave.id)}`, 'initiatorId'],
      [`accountId=${unknown(one.id)}`, 'accountId'],
      ['recipient=0x12', 'recipient'],
      ['assetId=ETH', 'assetId'],
      ['type=OTHER', 'type'],
      ['status=open', 'status'],
      ['from=yesterday', 'from'],
      ['to=2026-01-01', 'to'],
      ['text=', 'text'],
      ['text=%20%26%20', 'text'],
      [`text=${'a'.repeat(201)}`, 'text'],
    ];
    for (const [query, field] of refusals) {
      const answer = await api.http.send({ key: org.readKey, path: `${TRANSACTIONS}?${query}` });
      const expected = refusal(400, 'validationError', field);
      expect([query, refusalIn(answer, expected)]).toEqual([query, expected]);
    }
  });

  itDeep('has shorter pages with much calldata, and skips none', async () => {
    const other = await api.createOrganization();
    const account = await makeAccount(api.http, other, { networkIds: [31337] });
    const [policy] = await makePolicies(api.http, other, anAnyPolicyItem());
    const data = `0x12345678${'5a'.repeat(131_068)}`;
    const large: Shown[] = [];
    for (let i = 0; i < 10; i += 1) {
      const asked = aTransactionBody(other, { account, policy, to: anAddress() }, { value: '0', data });
      large.push(await createTransaction(api.http, other, asked));
    }
    const first = await list('', other);
    expect(first.data).toHaveLength(8);
    expect(first.pagination.hasMore).toBe(true);
    const second = await list(`?cursor=${first.pagination.cursor}`, other);
    expect(idsOf([...first.data, ...second.data])).toEqual(newestFirst(large));
    expect(second.pagination).toEqual({ cursor: '', hasMore: false });
  });
});

describe('an idempotency key', () => {
  const send = (path: string, sent: object, idempotencyKey: string, key = org.readKey) =>
    api.http.send({ key, path, body: sent, idempotencyKey });

  it('creates one transaction, however often it is sent, and with whatever API key', async () => {
    const idempotencyKey = randomUUID();
    const asked = body();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => send(TRANSACTIONS, asked, idempotencyKey)),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    const [first] = answers;
    expect(first?.status).toBe(201);
    const again = await send(TRANSACTIONS, asked, idempotencyKey, org.adminKey);
    expect([again.text, again.headers['idempotency-replayed'], again.headers.location]).toEqual([
      first?.text,
      'true',
      first?.headers.location,
    ]);
    expect(await api.db('transactions').where({ to_address: asked.to })).toHaveLength(1);
    const other = await send(TRANSACTIONS, { ...asked, value: '2' }, idempotencyKey);
    expect([other.status, other.body.code]).toEqual([422, 'idempotencyConflict']);
  });

  it('signs and executes once, and replays the response', async () => {
    const created = await createTransaction(api.http, org, body());
    const [signing, executing] = [randomUUID(), randomUUID()];
    const vote = await signatureBody(created, org.dave, 'initiator');
    const path = transactionPath(created.id, '/signatures');
    const one = await send(path, vote, signing);
    const two = await send(path, vote, signing);
    expect([one.status, two.text, two.headers['idempotency-replayed']]).toEqual([200, one.text, 'true']);
    const reject = { ...(await signatureBody(one.body.data, org.dave, 'reject')) };
    expect((await send(path, reject, signing)).body.code).toBe('idempotencyConflict');
    await signed(api.http, org, one.body.data, org.dave, 'reject');
    const below = transactionPath(created.id, '/execute');
    const first = await send(below, { type: 'reject' }, executing);
    const second = await send(below, { type: 'reject' }, executing);
    expect(first.body.data.executionStatus).toBe('rejected');
    expect([second.text, second.headers['idempotency-replayed']]).toEqual([first.text, 'true']);
    const audit = await read(api.http, org.readKey, `/api/v1/audit-logs?resourceId=${created.id}`);
    expect(audit.map(({ action }: Shown) => action)).toEqual([
      'transaction.rejected',
      'transaction.signed',
      'transaction.signed',
      'transaction.created',
    ]);
  });

  it('stores refusals about the state, and no others', async () => {
    const fresh = await createTransaction(api.http, org, body());
    const idempotencyKey = randomUUID();
    const path = transactionPath(fresh.id, '/execute');
    const early = await send(path, { type: 'approve' }, idempotencyKey);
    expect([early.status, early.body.code]).toEqual([422, 'thresholdNotMet']);
    const begun = await signed(api.http, org, fresh, org.dave, 'initiator');
    expect((await send(path, { type: 'approve' }, idempotencyKey)).text).toBe(early.text);
    await signed(api.http, org, begun, org.dave, 'reject');
    expect((await executeTransaction(api.http, org, begun, 'reject')).status).toBe(200);
  });
});

describe('an unavailable chain', () => {
  itDeep('gives 500 for an unreadable token: the same request succeeds later', async () => {
    const networks = JSON.parse(readFileSync(api.env.NETWORKS_FILE ?? '', 'utf8'));
    const file = networksFile(
      networks.map((network: object) => ({ ...network, rpcUrl: 'http://127.0.0.1:1' })),
    );
    const misconfigured = await startServiceProcess({ ...api.env, NETWORKS_FILE: file }, { roles: ['api'] });
    try {
      const token = sharedStack().chains[0]?.token.address ?? '';
      const to = anAddress();
      const transfer = { to: token, value: '0', data: transferData(to, 5n) };
      const ask = {
        key: org.readKey,
        path: TRANSACTIONS,
        body: body(transfer),
        idempotencyKey: randomUUID(),
      };
      const refused = await misconfigured.http.send(ask);
      expect([refused.status, refused.body.code]).toEqual([500, 'internalError']);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
      expect(await api.db('transactions').where({ calldata: transfer.data })).toEqual([]);
      expect((await api.http.send(ask)).status).toBe(201);
      // A policy that names the token has read it before.
      const [naming] = await makePolicies(
        api.http,
        org,
        aPolicyItem({ tokenTransferCondition: aTokenCondition({ tokenAddress: token }) }),
      );
      const named = await misconfigured.http.send({
        ...ask,
        body: body({ ...transfer, policyId: naming.id }),
        idempotencyKey: randomUUID(),
      });
      expect(named.status).toBe(201);
    } finally {
      await misconfigured.stop();
    }
  });
});

itDeep('an open transaction counts towards MAX_OPEN_PER_KEY', async () => {
  const narrow = await startApi({ env: { MAX_OPEN_PER_KEY: '2' } });
  try {
    const other = await narrow.createOrganization();
    const account = await makeAccount(narrow.http, other, { networkIds: [31337] });
    const [policy] = await makePolicies(narrow.http, other, anAnyPolicyItem());
    const asked = () => aTransactionBody(other, { account, policy, to: anAddress() });
    const first = await initiate(narrow.http, other, asked());
    await createTransaction(narrow.http, other, asked());
    const third = await narrow.http.send({ key: other.readKey, path: TRANSACTIONS, body: asked() });
    expect(refusalIn(third, refusal(409, 'conflict', null))).toEqual(refusal(409, 'conflict', null));
    await signed(narrow.http, other, first, other.dave, 'reject', { execute: true });
    await createTransaction(narrow.http, other, asked());
  } finally {
    await narrow.stop();
  }
});
