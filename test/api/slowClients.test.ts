/** @deep */

import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { newId } from '../../src/db/ids';
import { PROPOSE, refusal, refusalIn, startApi } from '../support/api';
import { checkConformance } from '../support/conformance';
import { operations, urlOf } from '../support/document';
import { isDryRun } from '../support/furnished';
import type { Answer } from '../support/http';
import type { TestOrganization, TestService } from '../support/service';
import { openConnection, parseAnswer } from '../support/sockets';
import { storeRequest } from '../support/storedRequests';
import { DEEP, itDeep } from '../support/suite';

interface Ended<T> {
  readonly result: T;
  readonly seconds: number;
}

let api: TestService;
let org: TestOrganization;
// Each waits for a time-out; they wait together.
let silent: Promise<Ended<string>>;
let unused: Promise<Ended<string>>;
let halfHead: Promise<Ended<string>>;
let halfPlainHead: Promise<Ended<string>>;
let halfBody: Promise<Ended<string>>;
/** A limit of the service is kept a little late on a busy machine. */
const SLACK_SECONDS = 18;

const secondOfTwo = new Map<string, Promise<Ended<Answer>>>();

async function timed<T>(work: Promise<T>): Promise<Ended<T>> {
  const startedMs = Date.now();
  const result = await work;
  return { result, seconds: (Date.now() - startedMs) / 1_000 };
}

/** Every POST whose answer is kept, as its documentation shows it, with an idempotency key that is in use. */
const mutations = operations
  // A dry run stores nothing: none waits for another one.
  .filter(
    (operation) => operation.method !== 'get' && !isDryRun(operation) && operation.codes.includes('conflict'),
  )
  .map((operation) => ({
    id: operation.id,
    method: operation.method.toUpperCase(),
    path: urlOf(operation),
    body: operation.body?.example ?? {},
    idempotencyKey: randomUUID(),
  }));

/** A request that another process works on, and goes on working on. */
const storeRunningRequest = ({ method, path, body, idempotencyKey }: (typeof mutations)[number]) =>
  storeRequest(api.db, {
    ...{ organizationId: org.id, credentialId: org.adminKeyId, key: idempotencyKey },
    ...{ method, path, body, resourceId: newId('prop'), leaseUntil: new Date(Date.now() + 3_600_000) },
  });

beforeAll(async () => {
  api = await startApi({ env: { ORGWALLET_ROLES: 'api' } });
  org = await api.createOrganization();
  await Promise.all(mutations.map(storeRunningRequest));
  const opened = openConnection(api, 'tls');
  opened.write('GET /api/v1/members HTTP/1.1\r\nHost: x\r\n');
  halfHead = timed(opened.closed);
  unused = timed(openConnection(api, 'tls').closed);
  const plain = openConnection(api, 'plain on the TLS port');
  plain.write('G');
  halfPlainHead = timed(plain.closed);
  const sending = openConnection(api, 'tls');
  sending.write(
    [
      `POST ${PROPOSE} HTTP/1.1`,
      'Host: x',
      `Authorization: Bearer ${org.adminKey}`,
      `X-Idempotency-Key: ${randomUUID()}`,
      'Content-Type: application/json',
      'Content-Length: 1000',
      '',
      '{"items":[',
    ].join('\r\n'),
  );
  halfBody = timed(sending.closed);
  const socket = connect({ host: '127.0.0.1', port: api.config.httpsPort });
  socket.on('error', () => undefined);
  silent = timed(new Promise((resolve) => socket.once('close', () => resolve('closed'))));
  for (const { id, ...ask } of DEEP ? mutations : []) {
    secondOfTwo.set(id, timed(api.http.send({ key: org.adminKey, ...ask })));
  }
});
afterAll(() => api?.stop());

describe('a client that connects in advance', () => {
  itDeep('gets no answer without a request: it would take it for that to its next one', async () => {
    const { result, seconds } = await unused;
    expect(result).toBe('');
    expect(seconds).toBeLessThan(10 + SLACK_SECONDS);
  });
});

describe('a client that is too slow', () => {
  itDeep('with its TLS handshake is disconnected after 10 seconds', async () => {
    expect((await silent).seconds).toBeLessThan(10 + SLACK_SECONDS);
  });

  it.each([
    ['over TLS', () => halfHead],
    ['in plain HTTP on the TLS port', () => halfPlainHead],
  ])('with the headers of its request %s is refused after 10 seconds', async (_, half) => {
    const { result, seconds } = await half();
    const answer = parseAnswer(result);
    checkConformance({ method: 'GET', path: '/' }, answer);
    expect(refusalIn(answer, refusal(400, 'validationError', 'request'))).toMatchObject({
      status: 400,
      field: 'request',
    });
    expect(seconds).toBeLessThan(10 + SLACK_SECONDS);
  });

  itDeep('with its body is refused after 20 seconds', async () => {
    const { result, seconds } = await halfBody;
    const answer = parseAnswer(result);
    expect([answer.status, answer.body.code]).toEqual([400, 'validationError']);
    expect(seconds).toBeLessThan(20 + SLACK_SECONDS);
  });

  it('does not affect other clients', async () => {
    expect((await api.http.send({ key: org.readKey, path: '/api/v1/members' })).status).toBe(200);
  });
});

describe.each(mutations.map((mutation) => [mutation.id, mutation] as const))(
  '%s, whose first attempt is still running,',
  (id, { idempotencyKey }) => {
    itDeep('waits for it, then gets 409, which is not stored', async () => {
      const { result, seconds } = (await secondOfTwo.get(id)) as Ended<Answer>;
      const expected = refusal(409, 'conflict', null);
      expect(refusalIn(result, expected)).toEqual(expected);
      expect(result.body.message).toMatch(/still running/);
      expect(Number(result.headers['retry-after'])).toBeGreaterThan(0);
      expect(seconds).toBeGreaterThan(20);
      expect(seconds).toBeLessThan(25 + SLACK_SECONDS);
      const row = await api.db('idempotency_requests').where({ key: idempotencyKey }).first();
      expect(row?.status).toBeNull();
    });
  },
);

it('a request whose first attempt is still running is refused at once with another body', async () => {
  const { idempotencyKey } = mutations.find(({ path }) => path === PROPOSE) ?? {};
  const body = { items: [{ name: 'Other', networkIds: [31337] }] };
  const ask = { key: org.adminKey, path: PROPOSE, body, ...(idempotencyKey ? { idempotencyKey } : {}) };
  const { result, seconds } = await timed(api.http.send(ask));
  expect(result.body.code).toBe('idempotencyConflict');
  expect(seconds).toBeLessThan(SLACK_SECONDS);
});
