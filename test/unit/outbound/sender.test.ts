import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { generate } from 'selfsigned';
import { createOutboundSender, type OutboundOptions } from '../../../src/outbound/sender';
import { type NameAnswer, startNameServer } from '../../support/nameServer';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0).reverse()) close();
});

async function listening(
  server: Server | ReturnType<typeof createTcpServer>,
  host = '127.0.0.1',
): Promise<number> {
  server.listen(0, host);
  await once(server, 'listening');
  closing.push(() => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const serve = (listener: RequestListener, host?: string) => listening(createServer(listener), host);

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function senderWith(options: Partial<OutboundOptions> = {}) {
  const sender = createOutboundSender({ allowedRanges: ['127.0.0.1/32'], production: false, ...options });
  closing.push(() => sender.stop());
  return sender;
}

async function names(answer: (name: string, type: 'A' | 'AAAA') => NameAnswer) {
  const server = await startNameServer(answer);
  closing.push(() => server.close());
  return server;
}

const post = (sender: ReturnType<typeof senderWith>, url: string, body = '{}') =>
  sender.post({ url, body, headers: { 'content-type': 'application/json', 'webhook-id': 'log_1' } });

/** All that a server sees is counted: nothing may reach it. */
async function unreached(host = '127.0.0.1') {
  let connections = 0;
  const server = createTcpServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  const port = await listening(server, host);
  return { port, connections: () => connections };
}

test('posts the body with its headers, and keeps the beginning of the answer', async () => {
  let seen: { headers: object; body: string; method: string | undefined } | undefined;
  const port = await serve(async (request, response) => {
    seen = { method: request.method, headers: request.headers, body: await bodyOf(request) };
    response.writeHead(202).end('é'.repeat(2_000));
  });
  const outcome = await post(senderWith(), `http://127.0.0.1:${port}/hook?a=1`, '{"é":1}');
  expect(outcome).toEqual({ status: 202, answer: 'é'.repeat(512), durationMs: expect.any(Number) });
  expect(seen).toMatchObject({
    method: 'POST',
    body: '{"é":1}',
    headers: { 'webhook-id': 'log_1', 'content-length': '8' },
  });
});

test.each([
  'http://127.0.0.1',
  'http://127.1',
  'http://0x7f000001',
  'http://2130706433',
  'http://0177.0.0.1',
  'http://0',
  'http://127.0.0.1.',
  'http://%31%32%37.0.0.1',
  'http://１２７。０。０。１',
  'http://①②⑦.0.0.1',
])('sends nothing to %s', async (origin) => {
  const server = await unreached();
  const outcome = await post(senderWith({ allowedRanges: [] }), `${origin}:${server.port}/`);
  expect(outcome).toMatchObject({
    fault: 'refused',
    message: expect.stringMatching(/is not a public address/),
  });
  expect(server.connections()).toBe(0);
});

test.each([
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  'localhost',
  'a.localhost',
  'LOCALHOST.',
  'ⓛocalhost',
  '[fec0::1]',
  '[fd00:ec2::254]',
  '[::ffff:0:127.0.0.1]',
  '[0:0:0:0:0:ffff:a9fe:a9fe]',
])('sends nothing to %s', async (host) => {
  const server = await unreached('::');
  const outcome = await post(senderWith({ allowedRanges: [] }), `http://${host}:${server.port}/`);
  expect(outcome).toMatchObject({ fault: 'refused' });
  expect(server.connections()).toBe(0);
});

test.each<[string, string[], string[]]>([
  ['a private address', ['10.0.0.1'], []],
  ['one of two that is private', ['8.8.8.8', '127.0.0.1'], []],
  ['a public A and a private AAAA', ['8.8.8.8'], ['::1']],
  ['a mapped one', [], ['::ffff:127.0.0.1']],
  ['one of NAT64', [], ['64:ff9b::a9fe:a9fe']],
  ['one of metadata', ['169.254.169.254'], []],
])('sends nothing to a name with %s', async (_, a, aaaa) => {
  const server = await unreached();
  const dns = await names((_name, type) => (type === 'A' ? a : aaaa));
  const sender = senderWith({ allowedRanges: [], nameServers: [dns.address] });
  const outcome = await post(sender, `http://hook.example:${server.port}/`);
  expect(outcome).toMatchObject({
    fault: 'refused',
    message: expect.stringMatching(/is not a public address/),
  });
  expect(await sender.refuse('https://hook.example/')).toMatch(/is not a public address/);
  expect(server.connections()).toBe(0);
});

test('connects to the address that it has checked: a name that changes is looked up once', async () => {
  const reached = await serve((_, response) => response.end('ok'));
  let asked = 0;
  // The first answer is permitted, every later one is not.
  const dns = await names((_name, type) => {
    if (type === 'AAAA') return [];
    asked += 1;
    return asked === 1 ? ['127.0.0.1'] : ['127.0.0.2'];
  });
  const sender = senderWith({ nameServers: [dns.address] });
  expect(await post(sender, `http://rebound.example:${reached}/`)).toMatchObject({ status: 200 });
  expect(dns.queries.filter((query) => query === 'rebound.example/A')).toHaveLength(1);
  const other = await unreached('127.0.0.2');
  expect(await post(sender, `http://rebound.example:${other.port}/`)).toMatchObject({ fault: 'refused' });
  expect(other.connections()).toBe(0);
});

test.each<[string, NameAnswer, RegExp]>([
  ['does not exist', { code: 3 }, /^gone\.example does not resolve$/],
  ['has no address', [], /^gone\.example does not resolve$/],
  ['cannot be resolved now', { code: 2 }, /^gone\.example cannot be resolved now \(ESERVFAIL\)$/],
])('says of a name that it %s', async (_, answer, message) => {
  const dns = await names(() => answer);
  const sender = senderWith({ nameServers: [dns.address] });
  expect(await post(sender, 'http://gone.example/')).toMatchObject({
    fault: 'unresolved',
    message: expect.stringMatching(message),
  });
  expect(await sender.refuse('http://gone.example/')).toMatch(message);
});

test('a name server that hangs is over with the time limit', async () => {
  const dns = await names(() => 'silent');
  const outcome = await post(
    senderWith({ nameServers: [dns.address], timeLimitMs: 300 }),
    'http://slow.example/',
  );
  expect(outcome).toMatchObject({ fault: 'timeout', message: 'did not answer within 0.3 s' });
});

test('follows no redirect', async () => {
  const inside = await unreached();
  const port = await serve((_, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:${inside.port}/` }).end(),
  );
  expect(await post(senderWith(), `http://127.0.0.1:${port}/`)).toMatchObject({ status: 307 });
  expect(inside.connections()).toBe(0);
});

test.each<[string, (socket: Socket) => void]>([
  ['nothing', () => undefined],
  [
    'a byte of a header now and then',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx: ');
      setInterval(() => socket.writable && socket.write('x'), 50).unref();
    },
  ],
  [
    'interim answers without end',
    (socket) =>
      void setInterval(() => socket.writable && socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 50).unref(),
  ],
])('a receiver that sends %s is over with the time limit', async (_, onSocket) => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    closing.push(() => socket.destroy());
    onSocket(socket);
  });
  const port = await listening(server);
  const outcome = await post(senderWith({ timeLimitMs: 400 }), `http://127.0.0.1:${port}/`);
  expect(outcome).toMatchObject({ fault: 'timeout' });
  expect(outcome.durationMs).toBeLessThan(3_000);
});

test.each<[string, (socket: Socket) => void]>([
  ['is cut off', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"ok')],
  ['never ends', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"ok')],
  [
    'has a broken chunk',
    (socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\n{"ok\r\nzz\r\n'),
  ],
])('a status whose body %s counts', async (_, onRequest) => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    closing.push(() => socket.destroy());
    socket.once('data', () => onRequest(socket));
  });
  const port = await listening(server);
  const outcome = await post(senderWith({ timeLimitMs: 500 }), `http://127.0.0.1:${port}/`);
  expect(outcome).toMatchObject({ status: 200, answer: '{"ok' });
});

test('reads no more than 64 KB of an answer', async () => {
  let written = 0;
  const port = await serve((_, response) => {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && written < 1e8) {
        written += 16_384;
        if (!response.write('x'.repeat(16_384))) return void response.once('drain', more);
      }
    };
    more();
  });
  const outcome = await post(senderWith(), `http://127.0.0.1:${port}/`);
  expect(outcome).toMatchObject({ status: 200, answer: 'x'.repeat(1_024) });
  expect(written).toBeLessThan(2e7);
});

test('sends no more than 64 KB', async () => {
  const server = await unreached();
  const outcome = await post(senderWith(), `http://127.0.0.1:${server.port}/`, 'x'.repeat(65_537));
  expect(outcome).toMatchObject({ fault: 'refused', message: 'the body is longer than 65536 bytes' });
});

test('reports Retry-After', async () => {
  const port = await serve((_, response) => response.writeHead(503, { 'retry-after': '7' }).end());
  expect(await post(senderWith(), `http://127.0.0.1:${port}/`)).toMatchObject({
    status: 503,
    retryAfterMs: 7_000,
  });
});

test.each<[string, boolean, RegExp]>([
  ['nonsense', false, /is not a URL/],
  ['file:///etc/passwd', false, /is not a URL|must begin with https/],
  ['gopher://example.com/', false, /must begin with https:\/\/ \(has gopher:\/\/\)/],
  ['http://example.com/', true, /must begin with https:\/\/ \(has http:\/\/\)/],
  ['https://user:secret@example.com/', true, /must not have a user name or a password/],
  ['https://example.com/#a', true, /must not have a fragment/],
  [`https://example.com/${'a'.repeat(2_048)}`, true, /is longer than 2048/],
])('refuses the URL %s', async (url, production, message) => {
  const sender = senderWith({ production });
  expect(await sender.refuse(url)).toMatch(message);
  expect(await post(sender, url)).toMatchObject({
    fault: 'refused',
    message: expect.stringMatching(message),
  });
});

test('a receiver that is not there, or drops the connection, is a connection fault', async () => {
  const server = createTcpServer((socket) => socket.destroy());
  const port = await listening(server);
  expect(await post(senderWith(), `http://127.0.0.1:${port}/`)).toMatchObject({
    fault: 'connection',
    message: expect.stringContaining('ECONNRESET'),
  });
  expect(await post(senderWith(), 'http://127.0.0.1:1/')).toMatchObject({
    fault: 'connection',
    message: expect.stringContaining('ECONNREFUSED'),
  });
});

test('says of a name with several addresses why the connection to the first one fails', async () => {
  const dns = await names((_name, type) => (type === 'A' ? ['127.0.0.1', '127.0.0.2'] : []));
  const sender = senderWith({ allowedRanges: ['127.0.0.0/8'], nameServers: [dns.address] });
  expect(await post(sender, 'http://two.example:1/')).toMatchObject({
    fault: 'connection',
    message: 'connect ECONNREFUSED 127.0.0.1:1',
  });
});

test('uses a connection again, and opens another where the receiver has closed it meanwhile', async () => {
  const sockets = new Set<Socket>();
  const server = createServer({ keepAliveTimeout: 60_000 }, (_, response) => response.end('ok'));
  server.on('connection', (socket) => sockets.add(socket));
  const port = await listening(server);
  const sender = senderWith();
  await post(sender, `http://127.0.0.1:${port}/`);
  await post(sender, `http://127.0.0.1:${port}/`);
  expect(sockets.size).toBe(1);
  for (const socket of sockets) socket.pause();
  const next = post(sender, `http://127.0.0.1:${port}/`);
  for (const socket of sockets) socket.resetAndDestroy();
  expect(await next).toMatchObject({ status: 200 });
  expect(sockets.size).toBe(2);
});

test.each([
  [
    'changes the protocol',
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  ],
  ['answers without headers (HTTP/0.9)', 'taken'],
  ['has a status that is none', 'HTTP/1.1 1000 OK\r\n\r\n'],
  ['has headers without an end', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(10_000)}`],
])('a receiver that %s is a connection fault', async (_, answer) => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined).on('data', () => socket.write(answer));
    closing.push(() => socket.destroy());
  });
  const outcome = await post(
    senderWith({ timeLimitMs: 2_000 }),
    `http://127.0.0.1:${await listening(server)}/`,
  );
  expect(outcome).toMatchObject({ fault: 'connection' });
});

test.each([
  ['only announces answers', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'],
  ['sends its headers a byte at a time', 'HTTP/1.1 200 OK\r\n'],
])('a receiver that %s is over with the time limit', async (_, answer) => {
  const server = createTcpServer((socket) => {
    socket.write(answer);
    const timer = setInterval(() => socket.write(answer.startsWith('HTTP/1.1 103') ? answer : 'x'), 50);
    socket.on('error', () => undefined).on('close', () => clearInterval(timer));
    closing.push(() => socket.destroy());
  });
  const outcome = await post(
    senderWith({ timeLimitMs: 400 }),
    `http://127.0.0.1:${await listening(server)}/`,
  );
  expect(outcome).toMatchObject({ fault: 'timeout' });
});

test('an answer that never ends is taken with the time limit, and one that is compressed is kept as it came', async () => {
  const trickling = createTcpServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    const timer = setInterval(() => socket.write('1\r\nx\r\n'), 50);
    socket.on('error', () => undefined).on('close', () => clearInterval(timer));
    closing.push(() => socket.destroy());
  });
  const slow = await post(
    senderWith({ timeLimitMs: 2_000 }),
    `http://127.0.0.1:${await listening(trickling)}/`,
  );
  expect(slow).toMatchObject({ status: 200, answer: expect.stringMatching(/^x+$/) });
  const bomb = gzipSync(Buffer.alloc(10_000_000));
  const port = await serve((_, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
  );
  const kept = await post(senderWith(), `http://127.0.0.1:${port}/`);
  expect(kept).toMatchObject({ status: 200, answer: bomb.subarray(0, 1_024).toString() });
});

test('an answer that comes before its request is not the answer of the next one', async () => {
  let requests = 0;
  const server = createTcpServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', () => {
        requests += 1;
        // The second one is of no request.
        const answer = 'HTTP/1.1 500 no\r\ncontent-length: 0\r\n\r\n';
        socket.write(requests === 1 ? `${answer}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n` : answer);
      });
    closing.push(() => socket.destroy());
  });
  const url = `http://127.0.0.1:${await listening(server)}/`;
  const sender = senderWith();
  expect(await post(sender, url)).toMatchObject({ status: 500 });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await post(sender, url)).toMatchObject({ status: 500 });
  expect(requests).toBe(2);
});

test('a name is another host than the one whose connection is open, at the same address', async () => {
  const hosts: unknown[] = [];
  const sockets = new Set<object>();
  const port = await serve((request, response) => {
    hosts.push(request.headers.host);
    sockets.add(request.socket);
    response.end();
  });
  const dns = await names((_name, type) => (type === 'A' ? ['127.0.0.1'] : []));
  const sender = senderWith({ nameServers: [dns.address] });
  for (const name of ['one.example', 'two.example', 'one.example'])
    await post(sender, `http://${name}:${port}/`);
  expect([hosts, sockets.size]).toEqual([
    [`one.example:${port}`, `two.example:${port}`, `one.example:${port}`],
    2,
  ]);
});

test('a caller can end it', async () => {
  const server = createTcpServer((socket) => closing.push(() => socket.destroy()));
  const port = await listening(server);
  const end = new AbortController();
  const outcome = senderWith().post({
    url: `http://127.0.0.1:${port}/`,
    headers: {},
    body: '',
    signal: end.signal,
  });
  await once(server, 'connection');
  end.abort();
  expect(await outcome).toMatchObject({ fault: 'aborted' });
});

describe('with TLS', () => {
  const certificate = async (name: string) => {
    const { cert, private: key } = await generate([{ name: 'commonName', value: name }], {
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
    });
    return { cert, key };
  };

  test('verifies the certificate for the name of the URL', async () => {
    const { cert, key } = await certificate('hook.example');
    const server = createTlsServer({ cert, key }, (request, response) => response.end(request.headers.host));
    const port = await listening(server);
    const dns = await names((_name, type) => (type === 'A' ? ['127.0.0.1'] : []));
    const options = { production: true, nameServers: [dns.address] };
    const trusting = senderWith({ ...options, authorities: cert });
    expect(await post(trusting, `https://hook.example:${port}/`)).toMatchObject({
      status: 200,
      answer: `hook.example:${port}`,
    });
    expect(await post(trusting, `https://other.example:${port}/`)).toMatchObject({ fault: 'certificate' });
    expect(await post(senderWith(options), `https://hook.example:${port}/`)).toMatchObject({
      fault: 'certificate',
    });
  });

  test('says of a certificate of another name no more than that', async () => {
    const altNames = Array.from({ length: 1_000 }, (_, n) => ({
      type: 2 as const,
      value: `secret-${n}.attacker.example`,
    }));
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'other.example' }], {
      extensions: [{ name: 'subjectAltName', altNames }],
    });
    const port = await listening(createTlsServer({ cert, key }, (_, response) => response.end()));
    const dns = await names((_name, type) => (type === 'A' ? ['127.0.0.1'] : []));
    const sender = senderWith({ authorities: cert, nameServers: [dns.address] });
    const outcome = await post(sender, `https://hook.example:${port}/`);
    const { message } = outcome as { message: string };
    expect(outcome).toMatchObject({ fault: 'certificate' });
    expect(message).not.toContain('attacker');
    expect(message.length).toBeLessThan(300);
  });

  test('a receiver that hangs before its certificate is over with the time limit', async () => {
    const server = createTcpServer((socket) => closing.push(() => socket.destroy()));
    const port = await listening(server);
    const outcome = await post(senderWith({ timeLimitMs: 300 }), `https://127.0.0.1:${port}/`);
    expect(outcome).toMatchObject({ fault: 'timeout' });
  });
});
