import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import {
  badField,
  expectRefused,
  PROPOSE,
  proposalPath,
  propose,
  read,
  refusal,
  refusalIn,
  sharedApi,
} from '../support/api';
import { checkConformance } from '../support/conformance';
import type { TestOrganization, TestService } from '../support/service';
import { openConnection, parseAnswer, sendPlain } from '../support/sockets';

let api: TestService;
let org: TestOrganization;
let proposalId: string;

beforeAll(async () => {
  api = await sharedApi();
  org = await api.createOrganization();
  for (let count = 0; count < 3; count += 1) proposalId = (await propose(api.http, org)).id;
});
afterAll(() => api?.stop());

const get = (path: string, more: object = {}) => api.http.send({ key: org.readKey, path, ...more });
const NOT_FOUND = refusal(404, 'notFound', null);

describe.each(['httpPort', 'httpsPort'] as const)('plain HTTP on the %s', (portName) => {
  it.each([
    ['GET', '/api/v1/members'],
    ['POST', PROPOSE],
    ['DELETE', '/api/v1/members'],
    ['GET', '/api/v1/nothing'],
    ['GET', '/'],
    ['GET', '/openapi.json'],
    ['GET', '/docs'],
    ['OPTIONS', '/api/v1/members'],
  ])('gets 426 for %s %s, with and without a key', async (method, path) => {
    const before = await org.stored();
    for (const headers of [{}, { authorization: `Bearer ${org.adminKey}`, 'x-forwarded-proto': 'https' }]) {
      const body = method === 'POST' ? { body: '{"items":[{"name":"x","networkIds":[31337]}]}' } : {};
      const port = api.config[portName];
      const answer = await sendPlain(api, { method, path, headers, port, ...body }, checkConformance);
      expect(refusalIn(answer, refusal(426, 'upgradeRequired', null))).toEqual(
        refusal(426, 'upgradeRequired', null),
      );
      expect(answer.headers.upgrade).toBe('TLS/1.2, HTTP/1.1');
      expect(answer.headers.connection).toMatch(/upgrade/i);
      expect(answer.headers.location).toBeUndefined();
    }
    expect(await org.stored()).toEqual(before);
  });
});

describe('a connection to the TLS port', () => {
  const GET = 'GET /api/v1/members HTTP/1.1\r\nHost: x\r\n';

  it('gets 426 without TLS for every request, however it is fragmented', async () => {
    const whole = openConnection(api, 'plain on the TLS port');
    whole.write(`${GET}\r\n${GET}Connection: close\r\n\r\n`);
    expect((await whole.closed).match(/HTTP\/1\.1 426/g)).toHaveLength(2);

    const old = openConnection(api, 'plain on the TLS port');
    old.write('GET / HTTP/1.0\r\n\r\n');
    expect(parseAnswer(await old.closed)).toMatchObject({
      status: 426,
      headers: { upgrade: 'TLS/1.2, HTTP/1.1' },
    });

    const cut = openConnection(api, 'plain on the TLS port');
    for (const piece of [
      'G',
      'ET /api/v1/members HT',
      'TP/1.1\r\nHost: x\r\nConnection: close\r',
      '\n\r\n',
    ]) {
      cut.write(piece);
    }
    expect((await cut.closed).match(/HTTP\/1\.1 426/g)).toHaveLength(1);
  });

  it('is answered with TLS, however its first record is fragmented', async () => {
    const raw = connectPlain({ host: '127.0.0.1', port: api.config.httpsPort, noDelay: true });
    const bytewise = new Duplex({
      read: () => undefined,
      write: (bytes: Buffer, _encoding, done) => {
        raw.write(bytes.subarray(0, 1), () => raw.write(bytes.subarray(1), done));
      },
    });
    raw.on('data', (bytes) => bytewise.push(bytes));
    raw.on('close', () => bytewise.push(null));
    const secure = connectTls({ socket: bytewise, rejectUnauthorized: false });
    secure.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const [first] = await once(secure, 'data');
    expect(String(first)).toMatch(/^HTTP\/1\.1 200/);
    secure.destroy();
    raw.destroy();
  });

  it('is closed when it ends before its first byte; others are served', async () => {
    const empty = openConnection(api, 'plain on the TLS port');
    empty.finish();
    expect(await empty.closed).toBe('');
    const broken = openConnection(api, 'plain on the TLS port');
    broken.write('\x16\x03\x01 is not TLS');
    broken.finish();
    await broken.closed;
    expect((await get('/api/v1/members')).status).toBe(200);
  });
});

describe('a path', () => {
  it.each([
    '/api/v1',
    '/api/v1/',
    '/api/v1/nothing',
    '/api/v1/members/',
    '/api/v1/Members',
    '/API/v1/members',
    '/api/v2/members',
    '/api/v1//members',
    '/api/v1/../v1/members',
    '/api/v1/members%2f',
    '/api/v1/accounts/proposals/',
    '/api/v1/proposals/x',
    '/api/v1/members/%',
    '/api',
    '/',
    '/healthz',
    '/metrics',
    '/docs/',
    '/docs/../package.json',
    '/openapi.json/',
    '/favicon.ico',
  ])('%s is not found', async (path) => {
    const answer = await expectRefused(api.http, org, { key: org.adminKey, path }, NOT_FOUND);
    expect(answer.headers.location).toBeUndefined();
  });

  it('outside the API is not found without a key', async () => {
    const answer = await api.http.send({ path: '/nothing' });
    expect(refusalIn(answer, NOT_FOUND)).toEqual(NOT_FOUND);
  });
});

describe('a method', () => {
  it.each([
    ['/api/v1/members', 'GET, HEAD, OPTIONS', ['POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND']],
    [PROPOSE, 'POST, OPTIONS', ['GET', 'HEAD', 'PUT', 'DELETE']],
    ['/api/v1/proposals', 'GET, HEAD, OPTIONS', ['POST']],
  ])('that %s does not have is 404 with Allow: %s', async (path, allow, methods) => {
    for (const method of methods) {
      const answer = await api.http.send({ key: org.adminKey, path, method });
      expect([method, answer.status, answer.headers.allow]).toEqual([method, 404, allow]);
    }
    const options = await api.http.send({ key: org.readKey, path, method: 'OPTIONS' });
    expect([options.status, options.headers.allow, options.text]).toEqual([204, allow, '']);
  });

  it('HEAD is GET without its body', async () => {
    for (const path of ['/api/v1/members', `${proposalPath(proposalId)}`, '/openapi.json']) {
      const [got, head] = [await get(path), await get(path, { method: 'HEAD' })];
      expect([head.status, head.text]).toEqual([200, '']);
      expect(head.headers['content-length']).toBe(String(Buffer.byteLength(got.text)));
      expect(head.headers['content-type']).toBe(got.headers['content-type']);
    }
    expect((await get('/api/v1/nothing', { method: 'HEAD' })).status).toBe(404);
  });

  it('of another origin is not allowed by CORS', async () => {
    const headers = { origin: 'https://example.org', 'access-control-request-method': 'POST' };
    for (const answer of [
      await get('/api/v1/members', { headers }),
      await get(PROPOSE, { headers, method: 'OPTIONS' }),
    ]) {
      const cors = Object.keys(answer.headers).filter((name) => name.startsWith('access-control'));
      expect(cors).toEqual([]);
    }
  });
});

describe('a query', () => {
  it.each([
    ['/members?unknown=1', 'unknown'],
    ['/members?LIMIT=1', 'LIMIT'],
    ['/members?limit=1&limit=1', 'limit'],
    ['/members?limit=0', 'limit'],
    ['/members?limit=101', 'limit'],
    ['/members?limit=-1', 'limit'],
    ['/members?limit=1.5', 'limit'],
    ['/members?limit=1e1', 'limit'],
    ['/members?limit=', 'limit'],
    ['/members?limit=ten', 'limit'],
    ['/members?limit[]=1', 'limit[]'],
    ['/members?__proto__=1', '__proto__'],
    ['/accounts?cursor=abc', 'cursor'],
    ['/admins?limit=1', 'limit'],
    ['/networks?x', 'x'],
    ['/proposals?status=waiting', 'status'],
    ['/proposals?resourceType=account', 'resourceType'],
    ['/accounts/proposals?resourceType=accounts', 'resourceType'],
    ['/audit-logs?action=', 'action'],
    ['/audit-logs?from=yesterday', 'from'],
    ['/audit-logs?to=2025-02-30T00:00:00Z', 'to'],
    ['/audit-logs?from=1700000000', 'from'],
  ])('%s is refused', async (path, field) => {
    await expectRefused(api.http, org, { key: org.readKey, path: `/api/v1${path}` }, badField(field));
  });

  it('on a single resource or a POST is refused', async () => {
    await expectRefused(
      api.http,
      org,
      { key: org.readKey, path: `${proposalPath(proposalId)}?a=1` },
      badField('a'),
    );
    const body = { items: [{ name: 'x', networkIds: [31337] }] };
    await expectRefused(
      api.http,
      org,
      { key: org.adminKey, path: `${PROPOSE}?dryRun=true`, body },
      badField('dryRun'),
    );
  });
});

describe('a cursor', () => {
  const firstPage = async (path: string) => (await get(path)).body.pagination.cursor as string;

  it('that was changed is refused', async () => {
    const cursor = await firstPage('/api/v1/proposals?limit=1');
    const bytes = Buffer.from(cursor, 'base64url');
    const flipped = (at: number) => {
      const copy = Buffer.from(bytes);
      copy[at] = (copy[at] ?? 0) ^ 1;
      return copy.toString('base64url');
    };
    const forged = Buffer.from('["99",{}]').toString('base64url');
    for (const bad of [
      flipped(0),
      flipped(15),
      flipped(16),
      flipped(bytes.length - 1),
      cursor.slice(0, -1),
      `${cursor}A`,
      `${cursor}=`,
      `${cursor}%0A`,
      cursor.slice(0, 10),
      bytes.toString('hex'),
      forged,
      'A'.repeat(5_000),
    ]) {
      const ask = { key: org.readKey, path: `/api/v1/proposals?cursor=${bad}` };
      await expectRefused(api.http, org, ask, badField('cursor'));
    }
    expect((await get(`/api/v1/proposals?cursor=${cursor}`)).status).toBe(200);
  });

  it('of another list is refused', async () => {
    const cursor = await firstPage('/api/v1/proposals?limit=1');
    for (const path of ['/accounts/proposals', '/audit-logs', '/members', '/accounts']) {
      const ask = { key: org.readKey, path: `/api/v1${path}?cursor=${cursor}` };
      await expectRefused(api.http, org, ask, badField('cursor'));
    }
  });

  it('includes its filters, and accepts no others', async () => {
    const cursor = await firstPage('/api/v1/audit-logs?limit=1&action=proposal.created');
    const next = await get(`/api/v1/audit-logs?limit=1&cursor=${cursor}`);
    expect(next.body.data).toMatchObject([{ action: 'proposal.created' }]);
    const same = await get(`/api/v1/audit-logs?limit=1&action=proposal.created&cursor=${cursor}`);
    expect(same.text).toBe(next.text);
    for (const [query, field] of [
      ['action=proposal.signed', 'action'],
      ['resourceType=proposal', 'resourceType'],
    ] as const) {
      const ask = { key: org.readKey, path: `/api/v1/audit-logs?${query}&cursor=${cursor}` };
      await expectRefused(api.http, org, ask, badField(field));
    }
  });
});

describe('the request id', () => {
  it.each(['my-request.1_A', 'x', 'a'.repeat(100)])('%p is kept', async (id) => {
    expect((await get('/api/v1/members', { headers: { 'x-request-id': id } })).headers['x-request-id']).toBe(
      id,
    );
  });

  it.each(['', 'a b', 'a'.repeat(101), '<script>', 'a;b', 'ä'])('%p is replaced', async (id) => {
    const answer = await get('/api/v1/members', { headers: { 'x-request-id': id } });
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('is on refusals too', async () => {
    const headers = { 'x-request-id': 'mine' };
    for (const answer of [
      await get('/api/v1/nothing', { headers }),
      await api.http.send({ path: '/api/v1/members', headers }),
      await sendPlain(api, { path: '/api/v1/members', headers }),
    ]) {
      expect(answer.headers['x-request-id']).toBe('mine');
    }
  });
});

describe('a body', () => {
  const body = JSON.stringify({ items: [{ name: 'Large', networkIds: [31337] }] });
  const MIB = 1_048_576;

  it('of exactly 1 MiB is read', async () => {
    const answer = await api.http.send({ key: org.adminKey, path: PROPOSE, body: body.padEnd(MIB) });
    expect(answer.status).toBe(201);
  });

  it('of one byte more is refused', async () => {
    await expectRefused(
      api.http,
      org,
      { key: org.adminKey, path: PROPOSE, body: body.padEnd(MIB + 1) },
      badField('body'),
    );
  });

  it('of unknown length is refused once it is too long', async () => {
    const before = await org.stored();
    const text = await new Promise<string>((resolve, reject) => {
      const outgoing = request(
        {
          host: '127.0.0.1',
          port: api.config.httpsPort,
          path: PROPOSE,
          method: 'POST',
          rejectUnauthorized: false,
          agent: false,
          headers: {
            authorization: `Bearer ${org.adminKey}`,
            'x-idempotency-key': '7b0c3c3e-4d55-4b6c-9a53-1d1f5d3a9f10',
            'content-type': 'application/json',
          },
        },
        (response) => {
          let received = '';
          response.on('data', (chunk) => {
            received += chunk;
          });
          response.on('end', () => resolve(`${response.statusCode} ${received}`));
        },
      );
      let answered = false;
      outgoing.on('response', () => {
        answered = true;
      });
      outgoing.on('error', (error) => answered || reject(error));
      outgoing.write(body);
      outgoing.write(' '.repeat(MIB));
    });
    expect(text).toMatch(/^400 .*"code":"validationError".*"field":"body"/);
    expect(await org.stored()).toEqual(before);
  });

  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])(
    'of type %s is read',
    async (type) => {
      const answer = await api.http.send({
        key: org.adminKey,
        path: PROPOSE,
        body,
        headers: { 'content-type': type },
      });
      expect(answer.status).toBe(201);
    },
  );

  it('is ignored on a GET', async () => {
    const answer = await get('/api/v1/members', {
      method: 'GET',
      body: '{',
      headers: { 'content-type': 'x/y' },
    });
    expect(answer.status).toBe(200);
  });
});

describe('a connection', () => {
  const OWN_HEADERS = {
    'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
    date: expect.stringMatching(/ GMT$/),
  };

  it.each(['tls', 'plain', 'plain on the TLS port'] as const)(
    '(%s) with malformed HTTP gets a JSON 400',
    async (kind) => {
      for (const text of [
        'HELLO\r\n\r\n',
        'GET /api/v1/members HTTP/9.9\r\n\r\n',
        'GET /api/v1/members HTTP/1.1\r\nBad Header: x\r\n\r\n',
        'POST /api/v1/members HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
        'POST /api/v1/members HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n',
        `GET /api/v1/members HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
      ]) {
        const connection = openConnection(api, kind);
        connection.write(text);
        const answer = parseAnswer(await connection.closed);
        checkConformance({ method: 'GET', path: '/' }, answer);
        expect([text.slice(0, 60), answer.status, answer.body.code]).toEqual([
          text.slice(0, 60),
          400,
          'validationError',
        ]);
        expect(answer.headers).toMatchObject(OWN_HEADERS);
      }
    },
  );

  it('without a Host, with two, with Expect, or for a tunnel is refused in JSON', async () => {
    for (const [text, status] of [
      ['GET /api/v1/members HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
      ['GET /api/v1/members HTTP/1.1\r\nHost: x\r\nhost: y\r\nConnection: close\r\n\r\n', 400],
      ['GET /api/v1/members HTTP/1.1\r\nHost: x\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
      ['POST /api/v1/members HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n', 400],
      ['CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n', 404],
    ] as const) {
      const connection = openConnection(api, 'tls');
      connection.write(text);
      const answer = parseAnswer(await connection.closed);
      checkConformance({ method: 'GET', path: '/' }, answer);
      expect([text.slice(0, 30), answer.status]).toEqual([text.slice(0, 30), status]);
      expect(answer.headers).toMatchObject(OWN_HEADERS);
    }
  });

  it('is kept for the next request', async () => {
    const connection = openConnection(api, 'tls');
    const one = `GET /api/v1/networks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${org.readKey}\r\n`;
    connection.write(`${one}\r\n${one}Connection: close\r\n\r\n`);
    expect((await connection.closed).match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
  });

  it('does not disclose the server software', async () => {
    const answer = await get('/api/v1/members');
    for (const name of ['x-powered-by', 'server', 'etag']) expect(answer.headers[name]).toBeUndefined();
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-type': 'application/json; charset=utf-8',
    });
  });
});

describe('without a key', () => {
  it('the committed OpenAPI document is served, with the whole URL that it is asked at', async () => {
    const port = api.config.httpsPort;
    const committed = readFileSync(join(__dirname, '../../openapi.json'), 'utf8');
    for (const [host, origin] of [
      [`localhost:${port}`, `https://localhost:${port}`],
      [`127.0.0.1:${port}`, `https://127.0.0.1:${port}`],
      ['localhost:1', `https://localhost:${port}`],
    ] as const) {
      const answer = await api.http.send({ path: '/openapi.json', headers: { host } });
      const { servers, paths, ...rest } = JSON.parse(committed);
      const served = JSON.parse(answer.text);
      expect(served).toMatchObject({ ...rest, servers: [{ url: `${origin}/api/v1` }] });
      expect(served.paths['/session'].servers).toEqual([{ url: origin }]);
    }
  });

  it('a page to read it is served, which loads nothing from other hosts', async () => {
    const page = await api.http.send({ path: '/docs' });
    expect(page.headers['content-type']).toMatch(/^text\/html/);
    expect(page.headers['content-security-policy']).toMatch(/default-src 'none'/);
    const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link ?? '');
    expect(links.length).toBeGreaterThan(2);
    for (const path of links) expect((await api.http.send({ path })).status).toBe(200);
    const post = await api.http.send({ path: '/docs', method: 'POST' });
    expect([post.status, post.headers.allow]).toEqual([404, 'GET, HEAD, OPTIONS']);
  });
});

describe('a list', () => {
  it('has pagination only on request, where the contract says so', async () => {
    for (const path of ['/members', '/accounts']) {
      expect((await get(`/api/v1${path}`)).body.pagination).toBeUndefined();
      expect((await get(`/api/v1${path}?limit=1`)).body.pagination).toBeDefined();
      expect((await get(`/api/v1${path}?cursor=`)).body.pagination).toBeDefined();
    }
    expect(await read(api.http, org.readKey, '/api/v1/members')).toHaveLength(6);
  });
});
