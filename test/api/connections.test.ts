import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { refusal, refusalIn, startApi } from '../support/api';
import type { TestOrganization, TestService } from '../support/service';
import { sendPlain } from '../support/sockets';
import { until } from '../support/until';

const MOST = 20;

let api: TestService;
let proxied: TestService;
let org: TestOrganization;

beforeAll(async () => {
  const env = { ORGWALLET_ROLES: 'api', MAX_CONNECTIONS_PER_ADDRESS: String(MOST) };
  api = await startApi({ env });
  proxied = await startApi({ env: { ...env, TRUSTED_PROXIES: '127.0.0.1/32' } });
  org = await proxied.createOrganization();
});
afterAll(() => Promise.all([api, proxied].map((service) => service?.stop())));

/** A connection that says nothing. */
function silent(port: number, localAddress: string): { readonly socket: Socket; isOpen: boolean } {
  const connection = { socket: connect({ host: '127.0.0.1', port, localAddress }), isOpen: true };
  connection.socket.on('error', () => undefined);
  connection.socket.on('close', () => {
    connection.isOpen = false;
  });
  connection.socket.resume();
  return connection;
}

describe.each(['httpsPort', 'httpPort'] as const)('silent connections to the %s', (portName) => {
  it('are the problem of their own address', async () => {
    const port = api.config[portName];
    const all = Array.from({ length: 3 * MOST }, () => silent(port, '127.0.0.9'));
    try {
      await until('the others are closed', async () => all.filter(({ isOpen }) => isOpen).length === MOST);
      const [other] = [silent(port, '127.0.0.10')];
      await once(other.socket, 'connect');
      other.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      const [answer] = await once(other.socket.pause(), 'readable').then(() => [other.socket.read()]);
      expect(String(answer)).toMatch(/^HTTP\/1.1 426 /);
      other.socket.destroy();
      // Whoever ends one may open another.
      all.find(({ isOpen }) => isOpen)?.socket.destroy();
      await until('there is a place again', async () => {
        const next = silent(port, '127.0.0.9');
        all.push(next);
        await once(next.socket, 'connect');
        await new Promise((resolve) => setImmediate(resolve));
        return next.isOpen;
      });
    } finally {
      for (const { socket } of all) socket.destroy();
    }
  });
});

it('requests through a trusted proxy count for the address that it forwards, and its connections do not', async () => {
  const port = proxied.config.httpPort;
  const head = (address: string) =>
    `POST /api/v1/accounts/proposals/create HTTP/1.1\r\nHost: x\r\nX-Forwarded-Proto: https\r\nX-Forwarded-For: ${address}\r\n` +
    `Authorization: Bearer ${org.adminKey}\r\nX-Idempotency-Key: 7b0c3c3e-4d55-4b6c-9a53-1d1f5d3a9f10\r\n` +
    'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n';
  // Each has begun a body, and goes on with it never.
  const all = Array.from({ length: 2 * MOST }, () => silent(port, '127.0.0.1'));
  try {
    for (const { socket } of all) socket.write(head('203.0.113.7'));
    const ask = (address: string) =>
      sendPlain(proxied, {
        path: '/api/v1/networks',
        headers: {
          authorization: `Bearer ${org.readKey}`,
          'x-forwarded-proto': 'https',
          'x-forwarded-for': address,
        },
      });
    const limited = refusal(429, 'rateLimited', null);
    const answer = await until('it has too many', async () => {
      const one = await ask('203.0.113.7');
      return one.status === 429 && one;
    });
    expect(refusalIn(answer, limited)).toEqual(limited);
    expect((await ask('203.0.113.8')).status).toBe(200);
  } finally {
    for (const { socket } of all) socket.destroy();
  }
});
