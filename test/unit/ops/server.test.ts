import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMetrics } from '../../../src/metrics';
import { createDecoder } from '../../../src/ops/codec';
import { createOpsServer, type OpsServer } from '../../../src/ops/server';
import { type CheckedParts, PartUnknown } from '../../../src/parts';

const up = async () => undefined;
const down = async () => {
  throw new Error('no answer');
};
let parts: CheckedParts = {};
let failure: Error | undefined;
let ops: OpsServer;
let port: number;

beforeAll(async () => {
  ops = createOpsServer({
    host: '127.0.0.1',
    port: 0,
    allowedHosts: ['orgwallet', 'orgwallet.internal'],
    metrics: createMetrics(['api']),
    failure: () => failure,
    parts: () => parts,
  });
  ({ port } = await ops.start());
});
afterAll(() => ops.stop());

/** Asks with a Host header, as a browser, a proxy or Prometheus sends it. */
function ask(host: string, path = '/metrics'): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ port, host: '127.0.0.1', path, headers: { host } }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode, text }));
    });
    outgoing.on('error', reject).end();
  });
}

describe('the codec', () => {
  const payloads = { payloads: [{ metadata: { encoding: 'anNvbi9wbGFpbg==' }, data: 'e30=' }] };
  const origin = 'https://temporal.example';
  let codec: OpsServer;
  let url: string;
  beforeAll(async () => {
    const decode = createDecoder({ current: null, keys: new Map() });
    const metrics = createMetrics(['api']);
    codec = createOpsServer({
      ...{
        host: '127.0.0.1',
        port: 0,
        allowedHosts: [],
        metrics,
        failure: () => undefined,
        parts: () => ({}),
      },
      codec: { decode, origin },
    });
    url = `http://127.0.0.1:${(await codec.start()).port}/codec/decode`;
  });
  afterAll(() => codec.stop());
  const post = (from: string, body: string) =>
    fetch(url, { method: 'POST', headers: { origin: from }, body });

  it('decodes for the pages of the Temporal UI, after their preflight', async () => {
    const preflight = await fetch(url, { method: 'OPTIONS', headers: { origin } });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
    const decoded = await post(origin, JSON.stringify(payloads));
    expect([decoded.status, await decoded.json()]).toEqual([200, payloads]);
  });

  it.each([
    ['another origin', 'https://attacker.example', JSON.stringify(payloads), 403],
    ['no JSON', origin, 'x', 400],
    ['a body that is too long', origin, 'x'.repeat(9 * 1024 * 1024), 400],
  ])('refuses %s', async (_, from, body, status) => {
    expect((await post(from, body)).status).toBe(status);
  });

  it('is not there without a setting', async () => {
    expect((await ask('127.0.0.1', '/codec/decode')).status).toBe(404);
  });
});

describe('the ops port', () => {
  it.each([
    ['an IPv4 address', '127.0.0.1:9090'],
    ['the address of a container', '10.1.2.3:9090'],
    ['an IPv6 address', '[fd00::1]:9090'],
    ['no port', '127.0.0.1'],
    ['localhost', 'localhost:9090'],
    ['a name below localhost', 'ops.localhost'],
    ['an allowed name, as Prometheus in another container sends it', 'orgwallet:9090'],
    ['an allowed name in another case, with the final dot', 'Orgwallet.Internal.:9090'],
  ])('answers %s (%s)', async (_, host) => {
    expect(await ask(host)).toMatchObject({ status: 200, text: expect.stringContaining('process_cpu') });
  });

  it.each([
    ['the name of a page that resolves to this address', 'attacker.example:9090'],
    ['a name that begins with an allowed one', 'orgwallet.attacker.example'],
    ['a name that ends with an allowed one', 'xorgwallet'],
    ['a name that begins with an address', '127.0.0.1.attacker.example'],
    ['a name that ends with localhost', 'notlocalhost'],
    ['a user before the name', 'localhost@attacker.example'],
    ['several names', 'localhost, attacker.example'],
  ])('refuses %s (%s)', async (_, host) => {
    for (const path of ['/metrics', '/readyz', '/statusz', '/healthz', '/nothing']) {
      const { status, text } = await ask(host, path);
      expect([status, JSON.parse(text)]).toEqual([
        421,
        {
          status: 'misdirected',
          reason: `unknown host "${host}" (expected an IP address, localhost or a name of OPS_ALLOWED_HOSTS)`,
        },
      ]);
    }
  });

  it.each([
    ['everything is there', up, up, 'ready', 'up', []],
    ['a network is not', up, down, 'ready', 'degraded', ['network:1']],
    ['what the process needs is not', down, up, 'notReady', 'degraded', ['database']],
  ])(
    'tells life, readiness and status apart where %s',
    async (_, database, network, ready, status, missing) => {
      parts = {
        database: { check: database, isRequired: true },
        'network:1': { check: network, isRequired: false },
      };
      const answer = async (path: string) => {
        const { status: code, text } = await ask('localhost', path);
        return [code, JSON.parse(text)];
      };
      expect(await answer('/healthz')).toEqual([200, { status: 'up' }]);
      expect(await answer('/readyz')).toMatchObject([ready === 'ready' ? 200 : 503, { status: ready }]);
      expect(await answer('/statusz')).toMatchObject([200, { status, unavailable: missing }]);
    },
  );

  it('says when each part was seen last, and reports one cause once', async () => {
    const seen = new Date('2026-01-01T12:00:00Z');
    const silent = async () => {
      throw new Error('no process polls orgwallet-signer');
    };
    const unknown = async () => {
      throw new PartUnknown('the database does not answer');
    };
    const queues = { 'orgwallet-signer': seen };
    parts = {
      temporal: { check: up, isRequired: true },
      signer: { check: silent, isRequired: false, shown: () => ({ lastSeen: seen, queues }) },
      'relayers:1': { check: unknown, isRequired: false },
    };
    const body = JSON.parse((await ask('localhost', '/statusz')).text);
    expect(body).toEqual({
      status: 'degraded',
      unavailable: ['signer'],
      parts: {
        temporal: { status: 'up', lastSeen: expect.stringMatching(/^20\d\d-/) },
        signer: {
          status: 'down',
          reason: 'no process polls orgwallet-signer',
          lastSeen: '2026-01-01T12:00:00.000Z',
          queues: { 'orgwallet-signer': '2026-01-01T12:00:00.000Z' },
        },
        'relayers:1': { status: 'unknown', reason: 'the database does not answer', lastSeen: null },
      },
    });
  });

  it('calls a part slow that answers late, and not unavailable; a probe waits no longer', async () => {
    parts = { temporal: { check: () => sleep(2_050), isRequired: true } };
    const [{ text }, ready] = await Promise.all([ask('localhost', '/statusz'), ask('localhost', '/readyz')]);
    expect(JSON.parse(text)).toMatchObject({
      status: 'up',
      unavailable: [],
      parts: { temporal: { status: 'slow', reason: expect.stringMatching(/^answered after \d+\.\d s$/) } },
    });
    expect(ready.status).toBe(503);
  });

  it('is not alive when the process cannot go on', async () => {
    failure = new Error('a worker has failed');
    const { status, text } = await ask('localhost', '/healthz');
    failure = undefined;
    expect([status, JSON.parse(text)]).toEqual([503, { status: 'failed', reason: 'a worker has failed' }]);
  });
});
