import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ApiError, createApi, createOrgwallet, isOrgwalletError, NoAnswer } from '@orgwallet/client';
import { generate } from 'selfsigned';
import { projectRoot } from '../../src/projectRoot';
import { temporaryDir } from '../support/stack';

const run = promisify(execFile);
const root = projectRoot();
const DAY_MS = 86_400_000;
/** Programs of their own, on a machine that may be busy. */
const LIMIT_MS = 60_000;
/** Far below the time for which a call without an answer is repeated. */
const AT_ONCE_MS = 10_000;
const servers: Server[] = [];

afterAll(() => {
  for (const server of servers) server.close();
});

async function listening(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, resolve));
  return (server.address() as AddressInfo).port;
}

/** A server over TLS whose certificate is for that host, from so many days ago, for so many days. Its own authority. */
async function tlsServer(host: string, fromDays: number, forDays: number) {
  const from = Date.now() + fromDays * DAY_MS;
  const { cert, private: key } = await generate([{ name: 'commonName', value: host }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date(from),
    notAfterDate: new Date(from + forDays * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: host }] },
    ],
  });
  const ca = join(temporaryDir(), 'ca.pem');
  writeFileSync(ca, cert);
  const port = await listening(createTlsServer({ cert, key }, (_, response) => response.end('{"data":[]}')));
  return { port, ca };
}

interface Outcome {
  readonly data?: unknown;
  readonly ms: number;
  readonly code?: string;
  readonly name?: string;
  readonly setting?: string;
  readonly message?: string;
}

/** What a program of its own gets that lists members: whom it trusts is decided when it starts. */
async function listed(baseUrl: string, settings: object = {}, ca?: string): Promise<Outcome> {
  const program = `
    import { createApi } from '@orgwallet/client';
    const startedAt = Date.now();
    const api = createApi({ baseUrl: ${JSON.stringify(baseUrl)}, apiKey: 'k', ...${JSON.stringify(settings)} });
    const show = (outcome) => console.log(JSON.stringify({ ...outcome, ms: Date.now() - startedAt }));
    await api.listMembers().then(
      (data) => show({ data }),
      ({ code, name, setting, message }) => show({ code, name, setting, message }),
    );
    process.exit();`;
  const env = { ...process.env, ...(ca ? { NODE_EXTRA_CA_CERTS: ca } : {}) };
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: root, env });
  return JSON.parse(stdout);
}

describe('a connection that a setting keeps from being made', () => {
  const api = (port: number, host = 'localhost') => `https://${host}:${port}/api/v1`;

  it(
    'is made with a certificate that is valid, for this host, and trusted',
    async () => {
      const { port, ca } = await tlsServer('localhost', -1, 2);
      expect(await listed(api(port), {}, ca)).toMatchObject({ data: [] });
    },
    LIMIT_MS,
  );

  it.each([
    [
      'is not trusted',
      'localhost',
      -1,
      2,
      false,
      'NODE_EXTRA_CA_CERTS',
      /not trusted: .*self.signed.*NODE_EXTRA/,
    ],
    ['has expired', 'localhost', -9, 2, true, 'certificate', /certificate of localhost:\d+ .*expired.*renew/],
    ['is not valid yet', 'localhost', 2, 2, true, 'certificate', /not yet valid.*clock/],
    [
      'is for another host',
      'other.example',
      -1,
      2,
      true,
      'baseUrl',
      /^baseUrl: .*another host: .*other\.example/,
    ],
  ] as const)(
    'fails at once where the certificate %s',
    async (_, host, from, days, isTrusted, setting, message) => {
      const { port, ca } = await tlsServer(host, from, days);
      const failed = await listed(api(port), {}, isTrusted ? ca : undefined);
      expect(failed).toMatchObject({ code: 'notConnected', name: 'NotConnected', setting });
      expect(failed.message).toMatch(message);
      expect(failed.ms).toBeLessThan(AT_ONCE_MS);
    },
    LIMIT_MS,
  );

  it(
    'fails at once where nobody can be there: an unknown host, a port of plain HTTP, one that fetch refuses',
    async () => {
      const plain = await listening(createServer((_, response) => response.end('{}')));
      const cases: [string, RegExp][] = [
        // Longer than a name can be, so that nobody is asked.
        [api(443, `${'a'.repeat(64)}.invalid`), /^baseUrl: unknown host a+\.invalid$/],
        [api(plain), /^baseUrl: localhost:\d+ does not speak TLS/],
        [api(6000), /^baseUrl: fetch refuses localhost:6000: bad port$/],
      ];
      for (const [baseUrl, message] of cases) {
        const failed = await listed(baseUrl);
        expect(failed).toMatchObject({ code: 'notConnected', setting: 'baseUrl' });
        expect(failed.message).toMatch(message);
        expect(failed.ms).toBeLessThan(AT_ONCE_MS);
      }
    },
    LIMIT_MS,
  );

  it(
    'is tried again where it is refused, because the service may be starting; the message has the reason',
    async () => {
      const server = createServer();
      const port = await listening(server);
      await new Promise((resolve) => server.close(resolve));
      for (const host of ['localhost', '127.0.0.1']) {
        const failed = await listed(`http://${host}:${port}/api/v1`, { timeoutMs: 1_500 });
        expect(failed).toMatchObject({ code: 'noAnswer', name: 'NoAnswer' });
        expect(failed.message).toMatch(/no final answer to GET \/members within 1500 ms: .*ECONNREFUSED/);
        expect(failed.ms).toBeGreaterThanOrEqual(500);
      }
    },
    LIMIT_MS,
  );
});

describe('a fault that says nothing of a setting', () => {
  const withCode = (code: unknown, message = 'failed') => Object.assign(new Error(message), { code });
  const failed = (cause: unknown) => new TypeError('fetch failed', { cause });
  const faults: readonly (readonly [string, unknown])[] = [
    ['no code', failed(new Error('the upstream has closed the stream'))],
    ['no code, from a proxy', failed(new Error('proxy authentication required'))],
    ['a text', failed('interrupted')],
    ['an empty object', failed({})],
    ['a code that is a number', failed(withCode(1_006))],
    ['an unknown code', failed(withCode('E_MIDDLEWARE'))],
    ['an alert of the other side', failed(withCode('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'))],
    ['several, one of them unknown', failed(new AggregateError([withCode('ENOTFOUND'), new Error('reset')]))],
    ['several, none of them there', failed(new AggregateError([]))],
    ['no cause', new TypeError('Failed to fetch')],
    ['no error at all', 'interrupted'],
    ['nothing', undefined],
  ];

  it.each(faults)('may come after the request was sent: %s', async (_, fault) => {
    const keys: (string | null)[] = [];
    const fetcher: typeof fetch = async (_url, init) => {
      keys.push(new Headers(init?.headers).get('x-idempotency-key'));
      throw fault;
    };
    const api = createApi({ baseUrl: 'https://localhost/api/v1', apiKey: 'k', fetch: fetcher });
    const thrown = await api.proposeAccountsCreate({ items: [] }, { timeoutMs: 400 }).catch((error) => error);
    expect(thrown).toBeInstanceOf(NoAnswer);
    expect(keys.length).toBeGreaterThan(1);
    expect([...new Set(keys)]).toEqual([thrown.idempotencyKey]);
  });
});

describe('an answer without an end', () => {
  it.each([200, 500])(
    'is read to a limit, and not asked for again: status %d',
    async (status) => {
      let sent = 0;
      let tries = 0;
      const port = await listening(
        createServer((_, response) => {
          tries += 1;
          response.writeHead(status);
          const chunk = Buffer.alloc(1 << 20, ' ');
          const more = () => {
            while (!response.destroyed && sent < 2 ** 31) {
              sent += chunk.length;
              if (!response.write(chunk)) return response.once('drain', more);
            }
            return response.end();
          };
          more();
        }),
      );
      const api = createApi({ baseUrl: `http://localhost:${port}/api/v1`, apiKey: 'k' });
      const failed = await api.proposeAccountsCreate({ items: [] }).catch((thrown) => thrown);
      expect(failed).toBeInstanceOf(NoAnswer);
      expect(failed.message).toMatch(/answered with more than 256 MiB/);
      expect(failed.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
      expect(tries).toBe(1);
      expect(sent).toBeLessThan(300 * 2 ** 20);
    },
    LIMIT_MS,
  );
});

describe('a refusal for now', () => {
  let answer: { status: number; headers?: Record<string, string>; body: string };
  let tries = 0;
  let baseUrl: string;

  beforeAll(async () => {
    const port = await listening(
      createServer((_, response) => {
        tries += 1;
        response.writeHead(answer.status, answer.headers).end(answer.body);
      }),
    );
    baseUrl = `http://localhost:${port}/api/v1`;
  });
  beforeEach(() => {
    tries = 0;
  });

  const error = (code: string, message: string) =>
    JSON.stringify({ error: { code, message }, code, message });
  const refusalOf = async (timeoutMs: number) => {
    const api = createApi({ baseUrl, apiKey: 'k' });
    const failed = await api.proposeAccountsCreate({ items: [] }, { timeoutMs }).catch((thrown) => thrown);
    if (!(failed instanceof ApiError)) throw failed;
    expect(isOrgwalletError(failed)).toBe(true);
    return failed;
  };

  it.each([
    ['429 of the service', 429, error('rateLimited', 'too many'), 'rateLimited', 'too many'],
    [
      '500 without details',
      500,
      '{"error":{"code":"internalError","message":"x","details":null}}',
      'internalError',
      'x',
    ],
    ['500 of the service', 500, error('internalError', 'no database'), 'internalError', 'no database'],
    ['429 of a proxy', 429, '<html>', 'rateLimited', /answered 429 without an API error$/],
    ['502 of a proxy', 502, '', 'internalError', /answered 502 without an API error$/],
  ])(
    '%s keeps its status, code and request id, and a key to repeat it',
    async (_, status, body, code, reason) => {
      answer = { status, body, headers: { 'x-request-id': 'req_1' } };
      const failed = await refusalOf(800);
      expect(failed).toMatchObject({ code, status, requestId: 'req_1', isTemporary: true });
      expect(failed.reason).toEqual(typeof reason === 'string' ? reason : expect.stringMatching(reason));
      expect(failed.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
      expect(failed.retryAfterMs).toBeUndefined();
      expect(tries).toBeGreaterThan(1);
    },
  );

  it('whose Retry-After is after the end of the call comes at once, with that time', async () => {
    const inTenMinutes = () => new Date(Date.now() + 600_000).toUTCString();
    for (const [text, least, most] of [
      ['120', 120_000, 120_000],
      [inTenMinutes(), 590_000, 600_000],
    ] as const) {
      answer = { status: 429, body: error('rateLimited', 'later'), headers: { 'retry-after': text } };
      const startedAt = performance.now();
      const { retryAfterMs = 0 } = await refusalOf(60_000);
      expect(performance.now() - startedAt).toBeLessThan(AT_ONCE_MS);
      expect(retryAfterMs).toBeGreaterThanOrEqual(least);
      expect(retryAfterMs).toBeLessThanOrEqual(most);
    }
    expect(tries).toBe(2);
  });

  it('for good has no key: it took no effect', async () => {
    answer = { status: 409, body: error('conflict', 'taken') };
    expect(await refusalOf(60_000)).toMatchObject({ isTemporary: false, idempotencyKey: undefined });
    expect(tries).toBe(1);
  });

  it('ends an action of many calls within its total time, with the key of the action', async () => {
    answer = { status: 503, body: '' };
    const idempotencyKey = 'a7c56e3e-2a1c-4a0e-9b7b-2f3b1d0c9e11';
    const wallet = { address: () => `0x${'1'.repeat(40)}`, sign: async () => '0x' };
    const request = {
      account: 'acc_1',
      networkId: 1,
      to: wallet.address(),
      amount: 1n,
      wallet,
      idempotencyKey,
    };
    for (const orgwallet of [
      createOrgwallet({ baseUrl, apiKey: 'k', totalTimeoutMs: 700 }),
      createOrgwallet({ baseUrl, apiKey: 'k' }),
    ]) {
      const startedAt = performance.now();
      const failed = await orgwallet.transfer({ ...request, totalTimeoutMs: 700 }).catch((thrown) => thrown);
      expect(performance.now() - startedAt).toBeLessThan(AT_ONCE_MS);
      expect(failed).toMatchObject({ status: 503, idempotencyKey });
    }
  });

  it('is not a NoAnswer, which an answer of something else is', async () => {
    answer = { status: 307, body: '', headers: { location: 'http://localhost:1/' } };
    const failed = await createApi({ baseUrl, apiKey: 'k' })
      .listMembers()
      .catch((thrown) => thrown);
    expect(failed).toBeInstanceOf(NoAnswer);
    expect(failed.message).toMatch(/answered 307 without an API error \(is baseUrl correct\?\)$/);
    expect(tries).toBe(1);
  });
});

it(
  'errors of the built package are printed with their names',
  async () => {
    const program = `
      import * as client from '@orgwallet/client';
      for (const [name, kind] of Object.entries(client)) {
        if (!(kind?.prototype instanceof Error)) continue;
        if (kind.name !== name) console.log(name, 'is', kind.name);
      }
      console.log(new client.ApiError('notFound', 404, 'no such member', {}, undefined));
      console.log(String(new client.NotSigned('no')), new client.NotSigned('no').constructor.name);`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: root });
    expect(stdout).toMatch(/^ApiError: 404 notFound: no such member\n {4}at /);
    expect(stdout).toMatch(/\nNotSigned: no NotSigned\n$/);
    expect(readFileSync(join(root, 'client', 'dist', 'index.js'), 'utf8')).not.toContain('class ApiError');
  },
  LIMIT_MS,
);
