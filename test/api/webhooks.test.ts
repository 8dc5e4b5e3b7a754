/** @deep */
import { createPublicKey, randomBytes, verify } from 'node:crypto';
import { type AddressInfo, createServer } from 'node:net';
import { verifyWebhook } from '@orgwallet/client';
import { issueApiKey } from '../../src/credentials/apiKeys';
import { appendAudit, verifyAudit } from '../../src/db/audit';
import { findDestination } from '../../src/db/destinations';
import { setPaused } from '../../src/delivery/operatorPause';
import { OPERATOR } from '../../src/domain/actor';
import { SCHEDULE_MS } from '../../src/domain/delivery';
import { badField, expectRefused, read, refusal, type Shown, sharedApi } from '../support/api';
import { anAddress } from '../support/builders';
import { type Received, type Receiver, startReceiver } from '../support/receiver';
import type { TestOrganization, TestService } from '../support/service';
import { itDeep } from '../support/suite';
import { until } from '../support/until';

const HOOKS = '/api/v1/webhooks';

let api: TestService;
let org: TestOrganization;
let receiver: Receiver;

beforeAll(async () => {
  api = await sharedApi();
});
beforeEach(async () => {
  org = await api.createOrganization();
  receiver = await startReceiver();
});
afterEach(() => receiver.close());
afterAll(() => api?.stop());

const send = (method: string, below: string, body?: object, key = org.adminKey) =>
  api.http.send({ key, method, path: `${HOOKS}${below}`, ...(body ? { body } : {}) });
async function done(...ask: Parameters<typeof send>): Promise<Shown> {
  const answer = await send(...ask);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.data;
}
const create = (fields: object = {}) => done('POST', '', { url: receiver.url, ...fields });
const show = (id: string) => done('GET', `/${id}`);
/** Makes events: each name is one of the type addressBookEntry.created. */
async function name(count = 1): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const body = { name: `N ${randomBytes(6).toString('hex')}`, address: anAddress() };
    const { status } = await api.http.send({ key: org.adminKey, path: '/api/v1/address-book', body });
    expect(status).toBe(200);
  }
}
const got = (count: number) =>
  until(`${count} events were received`, async () =>
    receiver.received.length >= count ? receiver.received : undefined,
  );
const typesOf = (received: readonly Received[]) => received.map(({ event }) => event.type);
const feed = async (): Promise<Shown[]> => read(api.http, org.readKey, '/api/v1/events?limit=100');
const reached = (id: string, status: string) =>
  until(`the webhook is ${status}`, async () => {
    const shown = await show(id);
    return shown.status === status ? shown : undefined;
  });

describe('a webhook', () => {
  it('gets every event from its own creation on, in order, as the feed has it', async () => {
    const { id } = await create({ description: 'Ledger' });
    await name(3);
    const received = await got(4);
    expect(typesOf(received)).toEqual(['webhook.created', ...Array(3).fill('addressBookEntry.created')]);
    const events = (await feed()).slice(-4);
    expect(received.map(({ event }) => event)).toEqual(events);
    expect(received.map(({ headers }) => headers['webhook-id'])).toEqual(events.map((event) => event.id));
    expect(received[0]?.headers['content-type']).toBe('application/json; charset=utf-8');
    await until(
      'it is up to date',
      async () => (await show(id)).position === events.at(-1)?.position || undefined,
    );
    expect(await show(id)).toMatchObject({
      ...{
        id,
        url: receiver.url,
        types: null,
        description: 'Ledger',
        enabled: true,
        status: 'active',
        attempts: 0,
      },
    });
    expect(await verifyAudit(api.db, org.id)).toMatchObject({ ok: true });
  });

  it('gets the types that it is for alone', async () => {
    const { id } = await create({ types: ['webhook.updated'] });
    await name(2);
    await done('PATCH', `/${id}`, { description: 'Other' });
    expect(typesOf(await got(1))).toEqual(['webhook.updated']);
    await name(1);
    const head = (await feed()).at(-1)?.position;
    await until('it is past the others', async () => (await show(id)).position === head || undefined);
    expect(receiver.received).toHaveLength(1);
  });

  it('is signed with the key of the installation, which anybody can read', async () => {
    await create();
    const [one] = await got(1);
    const { body: keys } = await api.http.send({ path: '/.well-known/orgwallet-webhooks.json' });
    const [, key = ''] = /^whpk_(.+)$/.exec(keys.publicKeys[0]) ?? [];
    const publicKey = createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key, 'base64').toString('base64url') },
      format: 'jwk',
    });
    const headers = one?.headers ?? {};
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${one?.body}`;
    const [, signature = ''] = / v1a,(\S+)$/.exec(headers['webhook-signature'] ?? '') ?? [];
    expect(verify(null, Buffer.from(signed), publicKey, Buffer.from(signature, 'base64'))).toBe(true);
  });

  it('is signed with both secrets for a day after a rotation', async () => {
    const { id } = await create();
    const { secrets: before } = await done('GET', `/${id}/secrets`);
    expect(before).toEqual([{ secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/), until: null }]);
    await done('POST', `/${id}/rotate`, {});
    const { secrets } = await done('GET', `/${id}/secrets`);
    expect(secrets).toEqual([
      { secret: expect.stringMatching(/^whsec_/), until: null },
      { secret: before[0].secret, until: expect.any(String) },
    ]);
    expect(secrets[0].secret).not.toBe(before[0].secret);
    const rotated = (await got(2)).find(({ event }) => event.type === 'webhook.rotated');
    expect(rotated?.headers['webhook-signature']?.split(' ').map((one) => one.split(',')[0])).toEqual([
      'v1',
      'v1',
      'v1a',
    ]);
  });

  it('that fails is tried again, and what comes after waits: nothing is lost or out of order', async () => {
    let failing = true;
    receiver.answer((_, response) => response.writeHead(failing ? 500 : 200).end(failing ? 'broken' : 'ok'));
    const { id } = await create();
    await name(3);
    const shown = await reached(id, 'failing');
    expect(shown).toMatchObject({
      lastFailure: 'the receiver answered 500',
      failingSince: expect.any(String),
    });
    failing = false;
    await got(5);
    const taken = await until('all were taken', async () => {
      const deliveries = await done('GET', `/${id}/deliveries?delivered=true`);
      return deliveries.length === 4 ? deliveries : undefined;
    });
    expect(taken.map(({ position }: Shown) => position).reverse()).toEqual(
      (await feed()).slice(-4).map((e) => e.position),
    );
    const [refused] = await done('GET', `/${id}/deliveries?delivered=false`);
    expect(refused).toMatchObject({
      reason: 'event',
      status: 500,
      delivered: false,
      answer: 'broken',
      attempt: expect.any(Number),
    });
    expect(await reached(id, 'active')).toMatchObject({ attempts: 0, lastFailure: null, failingSince: null });
  });

  it('waits for as long as Retry-After says, and not for less than its schedule', async () => {
    receiver.answer((_, response) => response.writeHead(429, { 'retry-after': '3600' }).end());
    const { id } = await create();
    const { nextAttemptAt } = await reached(id, 'failing');
    expect(Date.parse(nextAttemptAt) - Date.now()).toBeGreaterThan(3_500_000);
    receiver.answer((_, response) => response.writeHead(204).end());
    // An admin who has mended it does not wait.
    await done('PATCH', `/${id}`, { url: `${receiver.url}?mended` });
    await got(2);
    await reached(id, 'active');
  });

  it('that answers 410 is disabled, audited, and goes on where it was once it is enabled', async () => {
    receiver.answer((_, response) => response.writeHead(410).end());
    const { id } = await create();
    expect(await reached(id, 'disabled')).toMatchObject({ enabled: false, reason: 'gone' });
    const sent = receiver.received.length;
    await name(2);
    receiver.answer((_, response) => response.writeHead(204).end());
    await done('PATCH', `/${id}`, { enabled: true });
    const received = (await got(sent + 5)).slice(sent);
    expect(typesOf(received)).toEqual([
      'webhook.created',
      'webhook.disabled',
      ...['addressBookEntry.created', 'addressBookEntry.created', 'webhook.updated'],
    ]);
    expect(received[1]?.event).toMatchObject({ data: { reason: 'gone' }, actor: { type: 'system' } });
  });

  it('that has failed for five days is disabled', async () => {
    receiver.answer((_, response) => response.writeHead(500).end());
    const { id } = await create();
    await reached(id, 'failing');
    await api.db.raw(
      `UPDATE destinations SET failing_since = now() - interval '5 days', next_attempt_at = now() WHERE id = ?`,
      [id],
    );
    expect(await reached(id, 'disabled')).toMatchObject({ reason: 'failing' });
  });

  it('gives one event up after its last attempt, goes on, and sends it again when asked', async () => {
    receiver.answer(({ event }, response) =>
      response.writeHead(event.type === 'webhook.created' ? 500 : 204).end(),
    );
    const { id } = await create();
    await reached(id, 'failing');
    await api.db.raw(`UPDATE destinations SET attempts = ?, next_attempt_at = now() WHERE id = ?`, [
      SCHEDULE_MS.length,
      id,
    ]);
    await name(1);
    await until(
      'the next one was sent',
      async () => typesOf(receiver.received).includes('addressBookEntry.created') || undefined,
    );
    receiver.answer((_, response) => response.writeHead(204).end());
    const sent = receiver.received.length;
    expect(await done('POST', `/${id}/resend`, { failed: true })).toEqual({ events: 1 });
    const again = (await got(sent + 2)).slice(sent);
    expect(typesOf(again).sort()).toEqual(['webhook.created', 'webhook.resent']);
    await until(
      'it is recorded',
      async () =>
        (await done('GET', `/${id}/deliveries`)).some((one: Shown) => one.reason === 'resend') || undefined,
    );
    expect(await done('POST', `/${id}/resend`, { failed: true })).toEqual({ events: 0 });
  });

  it('sends events once more by id and by range', async () => {
    const { id } = await create();
    await name(2);
    const received = [...(await got(3))];
    await until(
      'it is recorded',
      async () => (await done('GET', `/${id}/deliveries`)).length === 3 || undefined,
    );
    const [first, second] = received.map(({ event }) => event);
    expect(await done('POST', `/${id}/resend`, { eventIds: [second.id] })).toEqual({ events: 1 });
    await got(5);
    expect(await done('POST', `/${id}/resend`, { from: first.position, to: second.position })).toEqual({
      events: 2,
    });
    const all = await got(8);
    expect(all.filter(({ event }) => event.id === second.id).map(({ body }) => body)).toEqual(
      Array(3).fill(received[1]?.body),
    );
  });

  it('sends what happens between what is sent once more, whatever its receiver takes for it', async () => {
    const { id } = await create();
    await name(12);
    await got(13);
    const { position } = await until('it has all', async () => {
      const shown = await show(id);
      return shown.position === (await feed()).at(-1)?.position ? shown : undefined;
    });
    receiver.answer((_, response) => setTimeout(() => response.writeHead(204).end(), 700));
    await done('POST', `/${id}/resend`, { from: String(Number(position) - 11), to: position });
    // The resending itself is an event.
    const received = await got(26);
    const positions = received.slice(13).map(({ event }) => Number(event.position));
    const resent = positions.filter((one) => one <= Number(position));
    expect(resent).toEqual(Array.from({ length: 12 }, (_, n) => Number(position) - 11 + n));
    expect(positions.indexOf(Number(position) + 1)).toBeLessThan(4);
  });

  it('names its organization: another one of the installation signs nothing that is taken for it', async () => {
    await create();
    const other = await api.createOrganization();
    await done('POST', '', { url: receiver.url }, other.adminKey);
    const received = await got(2);
    const { body } = await api.http.send({ path: '/.well-known/orgwallet-webhooks.json' });
    const [publicKey] = body.publicKeys;
    const ofOrganization = (organizationId: string) => ({ publicKey, organizationId });
    const read = async ({ headers, body: text }: Received, organizationId: string) =>
      verifyWebhook({ headers, body: text }, ofOrganization(organizationId)).then(
        (event) => event.organizationId,
        (error) => error.reason,
      );
    const outcomes = await Promise.all(received.map((one) => read(one, org.id)));
    expect(outcomes.sort()).toEqual([org.id, 'signature']);
    expect(received.map(({ event }) => event.organizationId).sort()).toEqual([org.id, other.id].sort());
  });

  it('is checked again at each attempt, whatever the database says', async () => {
    const { id } = await create();
    await got(1);
    for (const url of [
      'http://10.0.0.1/',
      'http://169.254.169.254/',
      'ftp://127.0.0.1/',
      'mailto:a@b.example',
    ]) {
      await api.db('destinations').where({ id }).update({ url, attempts: 0, next_attempt_at: null });
      await name(1);
      const { lastFailure } = await reached(id, 'failing');
      expect(lastFailure).toMatch(/is not a public address|the URL must begin with|the URL is not/);
    }
    expect(receiver.received).toHaveLength(1);
  });

  it('that answers with a change of protocol is a failure, and holds up no request', async () => {
    const server = createServer((socket) => {
      socket
        .on('error', () => undefined)
        .on('data', () =>
          socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'),
        );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { id } = await create({ url: `http://127.0.0.1:${port}/` });
    expect(await reached(id, 'failing')).toMatchObject({ attempts: expect.any(Number) });
    expect(await done('POST', `/${id}/test`, {})).toMatchObject({ delivered: false, fault: 'connection' });
    await done('DELETE', `/${id}`);
    server.close();
  });

  it('is tested at once, and says what became of it', async () => {
    const { id } = await create({ enabled: false });
    receiver.answer((_, response) => response.writeHead(418).end('no'));
    expect(await done('POST', `/${id}/test`, {})).toMatchObject({
      ...{
        reason: 'test',
        eventType: 'webhook.test',
        position: '0',
        status: 418,
        answer: 'no',
        delivered: false,
      },
    });
    expect(receiver.received[0]?.event).toMatchObject({
      type: 'webhook.test',
      position: '0',
      resource: { id },
    });
    expect(receiver.received[0]?.headers['webhook-signature']).toMatch(/^v1,\S+ v1a,\S+$/);
  });

  it('that an operator pauses sends nothing until it is resumed', async () => {
    const { id } = await create();
    await got(1);
    await setPaused(api.db, id, true);
    expect(await show(id)).toMatchObject({ status: 'paused', reason: 'operator' });
    await name(2);
    await done('PATCH', `/${id}`, { enabled: true });
    expect(receiver.received).toHaveLength(1);
    await setPaused(api.db, id, false);
    expect(typesOf(await got(6)).slice(1)).toEqual([
      ...[
        'webhook.paused',
        'addressBookEntry.created',
        'addressBookEntry.created',
        'webhook.updated',
        'webhook.resumed',
      ],
    ]);
  });

  it('pauses when the database has lost what it has', async () => {
    const { id } = await create();
    await name(3);
    await got(4);
    const head = (await feed()).at(-1);
    await until('it is up to date', async () => (await show(id)).position === head.position || undefined);
    // What a backup that is restored says.
    const first = (await feed()).find((event) => event.type === 'webhook.created');
    await api.db.raw('UPDATE destinations SET position = ?, hash = ? WHERE id = ?', [
      first.position,
      first.hash,
      id,
    ]);
    expect(await reached(id, 'paused')).toMatchObject({ reason: 'restored' });
    const sent = receiver.received.length;
    await setPaused(api.db, id, false);
    await got(sent + 3);
    expect(receiver.received[sent]?.event.position).toBe(String(Number(first.position) + 1));
  });

  it('is removed with its attempts, and its workflow ends', async () => {
    const { id } = await create();
    await got(1);
    expect(await done('DELETE', `/${id}`)).toMatchObject({ id });
    expect((await send('GET', `/${id}`)).status).toBe(404);
    expect(await findDestination(api.db, id)).toBeUndefined();
    expect(await done('GET', '')).toEqual([]);
  });
});

describe('a request about webhooks', () => {
  it('is refused for a URL that cannot be used, with the reason', async () => {
    const bad = async (url: string) => {
      const answer = await send('POST', '', { url });
      return [answer.status, answer.body.error?.details?.field, answer.body.error?.message];
    };
    expect(await bad('nonsense')).toEqual([400, 'url', expect.stringContaining('is not a URL')]);
    expect(await bad('ftp://example.com/')).toEqual([
      400,
      'url',
      expect.stringContaining('must begin with https://'),
    ]);
    expect(await bad('http://10.0.0.1/')).toEqual([
      400,
      'url',
      expect.stringContaining('10.0.0.1 is not a public address (private)'),
    ]);
    expect(await bad('http://169.254.169.254/latest')).toEqual([
      400,
      'url',
      expect.stringContaining('link-local'),
    ]);
    expect(await bad('http://[::ffff:10.0.0.1]/')).toEqual([
      400,
      'url',
      expect.stringContaining('not a public address'),
    ]);
    expect(await bad('http://does-not-exist.invalid/')).toEqual([
      400,
      'url',
      expect.stringMatching(/does not resolve|cannot be resolved/),
    ]);
  });

  it('is refused for an unknown type, at its field', async () => {
    await expectRefused(
      api.http,
      org,
      {
        key: org.adminKey,
        path: HOOKS,
        body: { url: receiver.url, types: ['group.created', 'group.burnt'] },
      },
      badField('types[1]'),
    );
  });

  it('needs an admin, and of a key the scope', async () => {
    const plain = await send('GET', '', undefined, org.readKey);
    expect([plain.status, plain.body.error.message]).toEqual([
      403,
      'requires the API key of an admin of type api',
    ]);
    const rights = {
      scopes: ['read' as const, 'propose' as const],
      networkIds: null,
      accountIds: null,
      addressRanges: null,
    };
    const { key } = await api.db.transaction((tx) =>
      issueApiKey(tx, { organizationId: org.id, memberIds: [org.bot.id], rights, actor: OPERATOR }),
    );
    const narrow = await send('GET', '', undefined, key);
    expect([narrow.status, narrow.body.error.details.scope]).toEqual([403, 'webhooks']);
  });

  it('is refused for a twenty-first webhook', async () => {
    for (let n = 0; n < 20; n += 1) await create({ enabled: false });
    await expectRefused(
      api.http,
      org,
      { key: org.adminKey, path: HOOKS, body: { url: receiver.url } },
      refusal(409, 'conflict', null),
    );
  });
});

test('a slow receiver holds up no other one', async () => {
  const slow = await startReceiver();
  slow.answer(() => undefined);
  try {
    await done('POST', '', { url: slow.url });
    await create();
    await name(3);
    await got(4);
    expect(slow.received.length).toBeLessThanOrEqual(2);
  } finally {
    slow.close();
  }
});

itDeep('a thousand events that are there already are sent in order, each once', async () => {
  const { id } = await create();
  await got(1);
  const entry = { actor: OPERATOR, resourceType: 'member', resourceId: org.bot.id, details: {} };
  for (let n = 0; n < 20; n += 1) {
    await api.db.transaction((tx) =>
      appendAudit(
        tx,
        org.id,
        Array.from({ length: 50 }, () => ({ ...entry, action: 'member.registered' as const })),
      ),
    );
  }
  const positions = (await got(1_001)).map(({ event }) => Number(event.position));
  const first = positions[0] ?? 0;
  expect(positions).toEqual(positions.map((_, n) => first + n));
  await until(
    'it is up to date',
    async () => (await show(id)).position === String(positions.at(-1)) || undefined,
  );
});
