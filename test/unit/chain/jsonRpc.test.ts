import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { inspect } from 'node:util';
import { jsonRpc } from '../../../src/chain/jsonRpc';
import { until } from '../../support/until';

interface Sent {
  readonly id: number;
  readonly method: string;
}
type Respond = (response: ServerResponse, sent: Sent & Sent[], request: IncomingMessage) => void;

let server: Server;
let respond: Respond;
let received: number;
const sockets = new Set<Socket>();

const url = (userInfo = '') => `http://${userInfo}127.0.0.1:${(server.address() as AddressInfo).port}/path`;
const node = (batchSize = 1, timeoutMs = 5_000, address = url()) =>
  jsonRpc(address, { timeoutMs, batchSize });
const json = (response: ServerResponse, body: unknown, status = 200) =>
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
const notJsonRpc = (status: number) => `status ${status}, and the response is not JSON-RPC`;
const echo: Respond = (response, { id, method }) => json(response, { jsonrpc: '2.0', id, result: method });

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    received += 1;
    respond(response, JSON.parse(Buffer.concat(parts).toString()), request);
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
beforeEach(() => {
  received = 0;
  respond = echo;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

it('sends calls one after the other on one connection', async () => {
  const call = node();
  for (const method of ['one', 'two', 'three']) expect(await call({ method })).toBe(method);
  expect(sockets.size).toBe(1);
});

it('sends a call again whose connection the node has closed meanwhile', async () => {
  const call = node();
  await call({ method: 'first' });
  respond = (response, sent, request) => {
    if (received > 2) echo(response, sent, request);
    else request.socket.resetAndDestroy();
  };
  expect(await call({ method: 'second' })).toBe('second');
  expect(received).toBe(3);
});

it('sends a call again once', async () => {
  const call = node();
  // As many connections as are kept.
  await Promise.all(['one', 'two', 'three'].map((method) => call({ method })));
  const before = received;
  respond = (_response, _sent, request) => request.socket.resetAndDestroy();
  await expect(call({ method: 'again' })).rejects.toThrow('ECONNRESET');
  expect(received).toBe(before + 2);
});

it('does not send a call again whose new connection was closed', async () => {
  await until('no connection is kept', async () => {
    server.closeIdleConnections();
    return sockets.size === 0;
  });
  respond = (_response, _sent, request) => request.socket.resetAndDestroy();
  await expect(node()({ method: 'first' })).rejects.toThrow('ECONNRESET');
  expect(received).toBe(1);
});

it('reports the error of the node, whatever the status', async () => {
  const error = { code: 3, message: 'execution reverted', data: '0x01' };
  respond = (response, { id }) => json(response, { jsonrpc: '2.0', id, error }, 400);
  await expect(node()({ method: 'eth_call' })).rejects.toMatchObject({
    name: 'RpcRequestError',
    code: 3,
    data: '0x01',
    details: 'execution reverted',
  });
});

it.each<[string, Respond, string]>([
  [
    'a failure, whatever it contains',
    (response, { id }) => json(response, { id, result: '0x1' }, 503),
    'status 503',
  ],
  ['no JSON', (response) => response.end('<html>'), notJsonRpc(200)],
  ['other JSON', (response) => json(response, { ok: true }), notJsonRpc(200)],
  ['a malformed error', (response) => json(response, { error: 'no' }, 400), notJsonRpc(400)],
  [
    'an error without a text',
    (response) => json(response, { error: { code: 3, message: {} } }),
    notJsonRpc(200),
  ],
  [
    'a result with the status of an error',
    (response, { id }) => json(response, { id, result: null }, 404),
    notJsonRpc(404),
  ],
  [
    'the answer to another call',
    (response) => json(response, { id: -1, result: '0x1' }),
    'the response has no answer to this call',
  ],
  ['an empty list', (response) => json(response, []), 'the response has no answer to this call'],
  ['a redirection', (response) => response.writeHead(307, { Location: '/elsewhere' }).end(), notJsonRpc(307)],
  ['nothing', (response) => response.end(), notJsonRpc(200)],
  [
    'a response above the limit',
    (response) => response.end(Buffer.alloc(10_485_761, 32)),
    'the response exceeds 10485760 bytes',
  ],
  [
    'a truncated response',
    (response, _, { socket }) =>
      response.writeHead(200, { 'Content-Length': 100 }).write('{', () => socket.destroy()),
    'ECONNRESET',
  ],
])('fails for %s', async (_, answer, details) => {
  respond = answer;
  await expect(node()({ method: 'eth_call' })).rejects.toMatchObject({ name: 'HttpRequestError', details });
});

it('fails where the node switches to another protocol', async () => {
  respond = (_response, _sent, { socket }) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n');
  await expect(node()({ method: 'eth_call' })).rejects.toMatchObject({
    name: 'HttpRequestError',
    details: 'the node has closed the connection',
  });
});

it('takes no late answer to another call for its own, and leaves that connection', async () => {
  const call = node();
  respond = (response, sent, request) => {
    if (received > 1) return echo(response, sent, request);
    echo(response, sent, request);
    const late = JSON.stringify({ jsonrpc: '2.0', id: sent.id, result: 'late' });
    const { socket } = request;
    // It comes with the next request on the connection.
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${late.length}\r\n\r\n${late}`);
    });
  };
  expect(await call({ method: 'first' })).toBe('first');
  const outcomes = await Promise.allSettled([call({ method: 'second' })]);
  expect(outcomes).not.toContainEqual(expect.objectContaining({ value: 'late' }));
  expect(await call({ method: 'third' })).toBe('third');
  expect(await call({ method: 'fourth' })).toBe('fourth');
});

it('says who it is, and which answers it reads', async () => {
  respond = (response, { id }, { headers }) => json(response, { id, result: headers });
  expect(await node()({ method: 'any' })).toMatchObject({
    accept: 'application/json',
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    'user-agent': 'orgwallet',
  });
});

it('names no login in its errors', async () => {
  respond = (response) => response.end();
  const failing = node(1, 5_000, url('user:p@ss-secret@'));
  const error = await failing({ method: 'any' }).catch((thrown: unknown) => thrown);
  expect(inspect(error, { depth: null, showHidden: true })).not.toMatch(/user:|secret/);
});

it('times out while the response does not end', async () => {
  respond = (response) => response.writeHead(200).write('{"jsonrpc"');
  await expect(node(1, 200)({ method: 'eth_call' })).rejects.toMatchObject({ name: 'TimeoutError' });
});

it('sends the credentials of the URL', async () => {
  respond = (response, { id }, { headers }) => json(response, { id, result: headers.authorization });
  const credentials = Buffer.from('user:p@ss').toString('base64');
  expect(await node(1, 5_000, url('user:p%40ss@'))({ method: 'any' })).toBe(`Basic ${credentials}`);
});

describe('in batches', () => {
  const ask = (call: ReturnType<typeof node>, methods: string[]) =>
    Promise.allSettled(methods.map((method) => call({ method })));
  const value = (result: string) => ({ status: 'fulfilled', value: result });
  const reason = (about: object) => ({ status: 'rejected', reason: expect.objectContaining(about) });

  it('matches answers by id, and fails only the call with an error', async () => {
    respond = (response, sent) =>
      json(
        response,
        [...sent]
          .reverse()
          .map(({ id, method }) =>
            method === 'bad' ? { id, error: { code: -32_601, message: 'unknown' } } : { id, result: method },
          ),
      );
    expect(await ask(node(3), ['one', 'bad', 'two'])).toEqual([
      value('one'),
      reason({ name: 'RpcRequestError', code: -32_601 }),
      value('two'),
    ]);
    expect(received).toBe(1);
  });

  it('fails all calls with the one error of the batch', async () => {
    const error = { code: -32_005, message: 'limit exceeded' };
    respond = (response) => json(response, { jsonrpc: '2.0', id: null, error });
    const refused = reason({ name: 'RpcRequestError', code: -32_005 });
    expect(await ask(node(3), ['one', 'two'])).toEqual([refused, refused]);
  });

  it.each<[string, object]>([
    ['an error', { error: { code: -32_000, message: 'already known' } }],
    ['a result', { result: 'of two', error: null }],
  ])('does not give %s of one call to another', async (_, answer) => {
    respond = (response, sent) => json(response, [{ id: sent[1]?.id, ...answer }]);
    const [one, two] = await ask(node(3), ['one', 'two']);
    expect(one).toEqual(
      reason({ name: 'HttpRequestError', details: 'the response has no answer to this call' }),
    );
    expect(two).toEqual('error' in answer && answer.error ? reason({ code: -32_000 }) : value('of two'));
  });

  it('fails a call that has no answer', async () => {
    respond = (response, sent) =>
      json(
        response,
        sent.slice(1).map(({ id, method }) => ({ id, result: method })),
      );
    expect(await ask(node(3), ['one', 'two'])).toEqual([
      reason({ name: 'HttpRequestError', details: 'the response has no answer to this call' }),
      value('two'),
    ]);
  });

  describe('that the node does not take', () => {
    const methods = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];
    const error = { code: -32_600, message: 'batch requests are not supported' };
    /** What each request contained. */
    let sizes: number[];

    const taking =
      (most: number, refuse: (response: ServerResponse, sent: Sent[]) => void): Respond =>
      (response, sent) => {
        const calls: Sent[] = [sent].flat();
        sizes.push(calls.length);
        if (calls.length > most) return refuse(response, calls);
        const answers = calls.map(({ id, method }) => ({ id, result: method }));
        return json(response, Array.isArray(sent) ? answers : answers[0]);
      };

    beforeEach(() => {
      sizes = [];
    });

    it.each<[string, (response: ServerResponse, sent: Sent[]) => void]>([
      ['with an error', (response) => json(response, { jsonrpc: '2.0', id: null, error })],
      ['with an error without an id', (response) => json(response, { error }, 400)],
      [
        'with the answer to its first call',
        (response, [first]) => json(response, { id: first?.id, result: first?.method }),
      ],
      ['with a status', (response) => response.writeHead(413).end('too large')],
      ['with a page', (response) => response.end('<html>')],
      ['as if it failed', (response) => response.writeHead(500).end()],
    ])('%s is sent in single calls, from then on', async (_, refuse) => {
      respond = taking(1, refuse);
      const call = node(8);
      expect(await ask(call, methods)).toEqual(methods.map(value));
      const before = sizes.length;
      expect(await ask(call, methods)).toEqual(methods.map(value));
      expect(sizes.slice(before)).toEqual(methods.map(() => 1));
    });

    it('because of its size is sent in smaller ones, from then on', async () => {
      respond = taking(3, (response) => json(response, { error }, 400));
      const call = node(8);
      expect(await ask(call, methods)).toEqual(methods.map(value));
      const before = sizes.length;
      expect(await ask(call, methods)).toEqual(methods.map(value));
      expect(sizes.slice(before)).toEqual([2, 2, 2, 2]);
    });

    it('because of its size is tried again after an hour', async () => {
      respond = taking(3, (response) => json(response, { error }, 400));
      const call = node(8);
      expect(await ask(call, methods)).toEqual(methods.map(value));
      respond = taking(8, () => undefined);
      const now = performance.now();
      const clock = jest.spyOn(performance, 'now');
      try {
        for (const [minutes, expected] of [
          [55, [2, 2, 2, 2]],
          [61, [8]],
        ] as const) {
          sizes.length = 0;
          clock.mockImplementation(() => now + minutes * 60_000);
          expect(await ask(call, methods)).toEqual(methods.map(value));
          expect(sizes).toEqual(expected);
        }
      } finally {
        clock.mockRestore();
      }
    });

    it('fails where a single call fails as well, and is tried again', async () => {
      respond = (response) => response.writeHead(502).end();
      const call = node(8);
      const failed = reason({ name: 'HttpRequestError', status: 502 });
      expect(await ask(call, methods)).toEqual(methods.map(() => failed));
      expect(received).toBe(2);
      respond = taking(8, () => undefined);
      expect(await ask(call, methods)).toEqual(methods.map(value));
      expect(sizes).toEqual([8]);
    });

    it('is not sent again after a rate limit', async () => {
      respond = (response) => response.writeHead(429).end();
      expect(await ask(node(8), methods)).toEqual(methods.map(() => reason({ status: 429 })));
      expect(received).toBe(1);
    });
  });
});
