import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
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
  ['no JSON', (response) => response.end('<html>'), 'status 200, and the response is not JSON-RPC'],
  ['other JSON', (response) => json(response, { ok: true }), 'status 200, and the response is not JSON-RPC'],
  [
    'a malformed error',
    (response) => json(response, { error: 'no' }, 400),
    'status 400, and the response is not JSON-RPC',
  ],
  ['an empty list', (response) => json(response, []), 'status 200, and the response is not JSON-RPC'],
  [
    'a redirection',
    (response) => response.writeHead(307, { Location: '/elsewhere' }).end(),
    'status 307, and the response is not JSON-RPC',
  ],
  ['nothing', (response) => response.end(), 'status 200, and the response is not JSON-RPC'],
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
});
