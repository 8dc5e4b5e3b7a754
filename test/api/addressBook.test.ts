import { randomUUID } from 'node:crypto';
import { MAX_ENTRIES } from '../../src/addressBook/edits';
import { issueApiKey, revokeApiKey } from '../../src/credentials/apiKeys';
import { verifyAudit } from '../../src/db/audit';
import { OPERATOR } from '../../src/domain/actor';
import { foldName } from '../../src/domain/names';
import {
  badField,
  expectRefused,
  makeAccount,
  organizationForEachTest,
  read,
  refusal,
  type Shown,
} from '../support/api';
import { anAddress, anId } from '../support/builders';
import { listen } from '../support/eventStream';
import type { TestOrganization, TestService } from '../support/service';
import { signIn } from '../support/session';
import { aTransactionBody, createTransaction, makePaymentPolicies } from '../support/transactionApi';
import { NETWORK_ID } from '../support/transactions';

const BOOK = '/api/v1/address-book';
const CONFLICT = (field: string) => refusal(409, 'conflict', field);

let api: TestService;
let org: TestOrganization;

organizationForEachTest((...own) => {
  [api, org] = own;
});

const list = (query = ''): Promise<Shown> => read(api.http, org.readKey, `${BOOK}${query}`);
const ask = (below: string, body: object, key = org.adminKey) => ({ key, path: `${BOOK}${below}`, body });
const send = (below: string, body: object) => api.http.send(ask(below, body));
async function name(text: string, address = anAddress(), networkId: number | null = null): Promise<Shown> {
  const answer = await send('', { name: text, address, networkId });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.data;
}
const auditOf = async (id: string): Promise<Shown[]> =>
  (await read(api.http, org.readKey, `/api/v1/audit-logs?resourceId=${id}`)).reverse();

describe('an address book', () => {
  it('has the names that an admin gives, audited, and shows them to every member', async () => {
    const address = anAddress();
    const made = await name('ACME', address, 31337);
    expect(made).toMatchObject({ name: 'ACME', address, networkId: 31337 });
    const changed = (await send(`/${made.id}/update`, { name: 'ACME Ltd', networkId: null })).body.data;
    expect(changed).toMatchObject({ id: made.id, name: 'ACME Ltd', address, networkId: null });
    expect(await read(api.http, org.readKey, `${BOOK}/${made.id}`)).toEqual(changed);
    expect((await send(`/${made.id}/remove`, {})).body.data).toEqual(changed);
    expect(await list()).toEqual([]);
    const entries = await auditOf(made.id);
    expect(
      entries.map(({ action, actor, details }) => [action, actor.id, details.before, details.after]),
    ).toEqual([
      ['addressBookEntry.created', org.bot.id, null, { name: 'ACME', address, networkId: 31337 }],
      [
        'addressBookEntry.updated',
        org.bot.id,
        { name: 'ACME', address, networkId: 31337 },
        { name: 'ACME Ltd', address, networkId: null },
      ],
      ['addressBookEntry.removed', org.bot.id, { name: 'ACME Ltd', address, networkId: null }, null],
    ]);
    expect(entries[0].details.apiKeyId).toBe(org.adminKeyId);
    expect(await verifyAudit(api.db, org.id)).toMatchObject({ ok: true });
  });

  it('is changed by the session of an admin, and not by those of others or by a key without an admin', async () => {
    const body = { name: 'ACME', address: anAddress() };
    const [alice, dave] = [await signIn(api, org.alice, org.id), await signIn(api, org.dave, org.id)];
    const answer = await alice.send({ path: BOOK, body });
    expect([answer.status, answer.body.data.name]).toEqual([200, 'ACME']);
    const [entry] = await auditOf(answer.body.data.id);
    expect([entry.actor.id, entry.details.sessionId]).toEqual([org.alice.id, alice.session.id]);
    expect((await dave.send({ path: BOOK, body })).status).toBe(403);
    await expectRefused(api.http, org, ask('', body, org.readKey), refusal(403, 'forbidden'));
    expect((await dave.send({ path: BOOK, method: 'GET' })).body.data).toHaveLength(1);
  });

  it('has one name for an address on a network, and one address for a name, whatever its case', async () => {
    const address = anAddress();
    const { id } = await name('ACME', address);
    await name('ACME on 31337', address, 31337);
    const other = await name('Other');
    const refused = (below: string, body: object, field: string) =>
      expectRefused(api.http, org, ask(below, body), CONFLICT(field));
    const { body } = await refused('', { name: 'Second', address: address.toLowerCase() }, 'address');
    expect(body.message).toBe(`${address} has the name "ACME": address book entry ${id}`);
    await refused('', { name: 'Second', address, networkId: 31337 }, 'address');
    await refused('', { name: ' acme ', address: anAddress() }, 'name');
    await refused(`/${other.id}/update`, { name: 'Acme' }, 'name');
    await refused(`/${other.id}/update`, { address }, 'address');
    expect((await send(`/${id}/update`, { name: 'Acme' })).body.data.name).toBe('Acme');
    await send(`/${id}/remove`, {});
    expect((await name('ACME', address)).id).not.toBe(id);
  });

  it('gives nobody the name of a member or an account that has another address', async () => {
    const body = { name: 'dave', address: anAddress() };
    const { body: refused } = await expectRefused(api.http, org, ask('', body), CONFLICT('name'));
    expect(refused.message).toBe(`"dave" is the name of member ${org.dave.id}, which has another address`);
    expect((await send('', { ...body, address: org.dave.wallet.address })).status).toBe(200);
  });

  it('refuses what is not a name, not an address, or of no network', async () => {
    const good = { name: 'ACME', address: anAddress() };
    for (const [field, body] of [
      ['name', { ...good, name: '' }],
      ['name', { ...good, name: 'a\u200bb' }],
      ['address', { ...good, address: `0x${'0'.repeat(40)}` }],
      ['address', { ...good, address: 'eth:0x70997970C51812dc3A010C7d01b50e0d17dc79C8' }],
      ['networkId', { ...good, networkId: 5 }],
      ['note', { ...good, note: 'x' }],
    ] as const) {
      await expectRefused(api.http, org, ask('', body), badField(field));
    }
    const { id } = await name('ACME');
    await expectRefused(api.http, org, ask(`/${id}/update`, { networkId: 5 }), badField('networkId'));
    const unknown = anId('adr');
    for (const word of ['update', 'remove']) {
      await expectRefused(api.http, org, ask(`/${unknown}/${word}`, {}), refusal(404, 'notFound'));
    }
  });

  it('is listed newest first, in pages, and searched by name and address', async () => {
    const entries: Shown[] = [];
    for (const text of ['Anna', 'Bert', 'Anne', 'Carl']) entries.unshift(await name(text));
    expect(await list()).toEqual(entries);
    const first = (await api.http.send({ key: org.readKey, path: `${BOOK}?limit=1&text=AN` })).body;
    expect([first.data, first.pagination.hasMore]).toEqual([[entries[1]], true]);
    const path = `${BOOK}?cursor=${first.pagination.cursor}`;
    const second = (await api.http.send({ key: org.readKey, path })).body;
    expect([second.data, second.pagination]).toEqual([[entries[3]], { cursor: '', hasMore: false }]);
    expect(await list(`?text=${entries[0].address.slice(4, 20).toUpperCase()}`)).toEqual([entries[0]]);
    expect(await list('?text=%25')).toEqual([]);
  });

  it('has one entry and one audit entry for one idempotency key, and the same answer', async () => {
    const asked = { ...ask('', { name: 'ACME', address: anAddress() }), idempotencyKey: randomUUID() };
    const answers = await Promise.all([1, 2, 3, 4].map(() => api.http.send(asked)));
    answers.push(await api.http.send(asked));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const [entry] = await list();
    expect(await auditOf(entry.id)).toHaveLength(1);
    const removing = { ...ask(`/${entry.id}/remove`, {}), idempotencyKey: randomUUID() };
    const [one, two] = [await api.http.send(removing), await api.http.send(removing)];
    expect([one.status, two.text, two.headers['idempotency-replayed']]).toEqual([200, one.text, 'true']);
    expect((await send(`/${entry.id}/remove`, {})).status).toBe(404);
  });

  it('keeps its names and its limit when many change it at once', async () => {
    const address = anAddress();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        send('', { name: i % 2 ? 'ACME' : `N ${i}`, address: i % 3 ? anAddress() : address }),
      ),
    );
    const entries: Shown[] = await list();
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(entries.length);
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect(new Set(entries.map((one) => foldName(one.name))).size).toBe(entries.length);
    expect(new Set(entries.map((one) => one.address)).size).toBe(entries.length);
  });

  it(`has at most ${MAX_ENTRIES} entries`, async () => {
    const rows = Array.from({ length: MAX_ENTRIES - 1 }, (_, i) => ({
      id: anId('adr'),
      organization_id: org.id,
      name: `N ${i}`,
      folded_name: `n ${i}`,
      address: anAddress(),
      position: 0n,
    }));
    await api.db.batchInsert('address_book_entries', rows);
    await name('The last one');
    const { body } = await expectRefused(
      api.http,
      org,
      ask('', { name: 'One more', address: anAddress() }),
      CONFLICT('name'),
    );
    expect(body.message).toBe(`the organization has 2000 names in its address book (maximum 2000)`);
  });

  it('takes nothing from a credential that has ended', async () => {
    const issued = { organizationId: org.id, memberIds: [org.bot.id], actor: OPERATOR };
    const { key, id } = await api.db.transaction((tx) => issueApiKey(tx, issued));
    const body = { name: 'ACME', address: anAddress() };
    expect((await api.http.send(ask('', body, key))).status).toBe(200);
    await api.db.transaction((tx) => revokeApiKey(tx, { apiKeyId: id, actor: OPERATOR }));
    await expectRefused(api.http, org, ask('', { ...body, name: 'B' }, key), refusal(401, 'unauthorized'));
  });

  it('is not part of what is signed, nor of an evaluation: both are the same with and without a name', async () => {
    const account = await makeAccount(api.http, org, { networkIds: [NETWORK_ID] });
    const { approved } = await makePaymentPolicies(api.http, org, NETWORK_ID);
    const to = anAddress();
    const body = aTransactionBody(org, { account, policy: approved, to });
    const { id } = await createTransaction(api.http, org, body);
    const { policyId: _, ...evaluated } = body;
    const signedAndEvaluated = async () => {
      const shown = await read(api.http, org.readKey, `/api/v1/transactions/${id}`);
      const ask = { key: org.readKey, path: '/api/v1/policies/evaluate', body: evaluated };
      return [shown.signingPayloads, shown.signatureData, (await api.http.send(ask)).body.data];
    };
    const before = await signedAndEvaluated();
    expect(JSON.stringify(before)).toContain(to.slice(2));
    await name('ACME', to);
    const after = await signedAndEvaluated();
    expect(after).toEqual(before);
    expect(JSON.stringify(after)).not.toContain('ACME');
  });

  it('notifies the console of its changes', async () => {
    const alice = await signIn(api, org.alice, org.id);
    const events = await listen(api, alice);
    const { id } = await name('ACME');
    const created = await events.next('message');
    events.close();
    expect(created.data.resource).toMatchObject({ type: 'addressBookEntry', id });
  });
});

describe('a file of names', () => {
  const importing = (csv: string) => ask('/import', { csv });

  it('is imported whole: new addresses get an entry, others their name, and the same file changes nothing', async () => {
    const [one, two, three] = [anAddress(), anAddress(), anAddress()];
    const kept = await name('Kept', one);
    const renamed = await name('Old', two);
    const csv = `address,name,chainId\n${one},Kept,\n${two},New,\n${three},Third,31337\n`;
    expect((await api.http.send(importing(csv))).body.data).toEqual({ created: 1, updated: 1, unchanged: 1 });
    const entries: Shown[] = await list();
    expect(entries.map((entry) => [entry.name, entry.address, entry.networkId])).toEqual([
      ['Third', three, 31337],
      ['New', two, null],
      ['Kept', one, null],
    ]);
    expect((await auditOf(renamed.id)).map(({ action }) => action)).toEqual([
      'addressBookEntry.created',
      'addressBookEntry.updated',
    ]);
    expect(await auditOf(kept.id)).toHaveLength(1);
    const exported = (await read(api.http, org.readKey, `${BOOK}/export`)).csv;
    expect((await api.http.send(importing(exported))).body.data).toEqual({
      created: 0,
      updated: 0,
      unchanged: 3,
    });
    expect(await verifyAudit(api.db, org.id)).toMatchObject({ ok: true });
  });

  it('may swap names', async () => {
    const [one, two] = [await name('One'), await name('Two')];
    const csv = `name,address\nTwo,${one.address}\nOne,${two.address}\n`;
    expect((await api.http.send(importing(csv))).body.data).toEqual({ created: 0, updated: 2, unchanged: 0 });
    expect((await list()).map((entry: Shown) => entry.name)).toEqual(['One', 'Two']);
  });

  it('is refused with every bad row, and then nothing of it is imported', async () => {
    const csv = `address,name\n${anAddress()},Good\n0x12,Bad\n${anAddress()},good\n`;
    const { body } = await expectRefused(api.http, org, importing(csv), badField('csv[line 3].address'));
    expect(body.error.details.issues.map(({ field }: Shown) => field)).toEqual([
      'csv[line 3].address',
      'csv[line 4].name',
    ]);
    await name('Taken');
    const taken = `address,name\n${anAddress()},Good\n${anAddress()},taken\n`;
    await expectRefused(api.http, org, importing(taken), CONFLICT('csv[line 3].name'));
    const members = `address,name\n${anAddress()},Dave\n`;
    await expectRefused(api.http, org, importing(members), CONFLICT('csv[line 2].name'));
  });

  it('has 1,000 rows at most, which are imported at once', async () => {
    const rows = Array.from({ length: 1_000 }, (_, i) => `${anAddress()},Name ${i}`);
    const csv = ['address,name', ...rows].join('\n');
    expect((await api.http.send(importing(csv))).body.data).toEqual({
      created: 1_000,
      updated: 0,
      unchanged: 0,
    });
    await expectRefused(api.http, org, importing(`${csv}\n${anAddress()},More`), badField('csv[line 1002]'));
    expect(await verifyAudit(api.db, org.id)).toMatchObject({ ok: true });
  });
});
