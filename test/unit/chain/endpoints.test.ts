import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import type { Address } from 'viem';
import { ask, createChainClient } from '../../../src/chain/clients';
import type { EndpointResult } from '../../../src/chain/failover';
import type { NetworkConfig } from '../../../src/config';
import { requireRow } from '../../../src/db/rows';
import { anAddress } from '../../support/builders';
import { random } from '../../support/random';
import { REFUSALS, type Refusal } from '../../support/refusals';
import { until } from '../../support/until';

/** How an endpoint takes a request. */
type Mode =
  | { readonly block: number; readonly chainId?: number }
  | { readonly status: number; readonly retryAfter?: string }
  | {
      readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
      /** The one method that it refuses. */
      readonly only?: string;
    }
  | 'silent';

interface Endpoint {
  readonly url: string;
  readonly host: string;
  mode: Mode;
  /** How many JSON-RPC calls came in each HTTP request. */
  readonly requests: number[];
  readonly server: Server;
}

const opened: Endpoint[] = [];

function respond(
  response: ServerResponse,
  mode: Mode,
  calls: readonly { readonly id: number; readonly method: string }[],
  batch: boolean,
) {
  if (mode === 'silent') return;
  if ('status' in mode) {
    if (mode.retryAfter) response.setHeader('retry-after', mode.retryAfter);
    response.writeHead(mode.status).end();
    return;
  }
  const answers = calls.map(({ id, method }) => {
    const block = 'block' in mode ? mode : { block: 0 };
    const result = method === 'eth_chainId' ? (block.chainId ?? 1) : block.block;
    const fails = 'error' in mode && (mode.only ? method === mode.only : method !== 'eth_chainId');
    return {
      jsonrpc: '2.0',
      id,
      ...(fails ? { error: mode.error } : { result: `0x${result.toString(16)}` }),
    };
  });
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(batch ? answers : answers[0]));
}

async function open(mode: Mode): Promise<Endpoint> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = JSON.parse(Buffer.concat(parts).toString());
    const calls = [body].flat();
    const isAnswered = endpoint.mode !== 'silent' && !('status' in endpoint.mode);
    // The id of its chain is asked beside.
    if (!isAnswered || body.method !== 'eth_chainId') endpoint.requests.push(calls.length);
    respond(response, endpoint.mode, calls, Array.isArray(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const endpoint: Endpoint = { url: `http://${host}/secretKey`, host, mode, requests: [], server };
  opened.push(endpoint);
  return endpoint;
}

afterEach(() => {
  jest.restoreAllMocks();
  elapsedMs = 0;
  for (const { server } of opened.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A client of these endpoints, and what each has done. */
function connect(endpoints: readonly Endpoint[], change: Partial<NetworkConfig> = {}, timeoutMs = 10_000) {
  const network: NetworkConfig = {
    id: 1,
    name: 'One',
    rpcUrls: endpoints.map(({ url }) => url),
    signerRpcUrls: [],
    relayers: 1,
    nativeAsset: { symbol: 'ETH', name: 'Ether', decimals: 18 },
    confirmations: 1,
    maxFeePerGas: 1n,
    ...change,
  };
  const seen: [host: string, result: EndpointResult][] = [];
  const client = createChainClient(network, {
    timeoutMs,
    observe: ({ host, result }) => seen.push([host, result]),
  });
  return {
    client,
    seen,
    head: () => client.rpc.getBlockNumber(),
    nonce: (address: string) => client.rpc.getTransactionCount({ address: address as Address }),
  };
}

const realNow = performance.now.bind(performance);
let elapsedMs = 0;

/** Lets the time of resting endpoints pass. Everything else goes on. */
function elapse(ms: number): void {
  elapsedMs += ms;
  jest.spyOn(performance, 'now').mockImplementation(() => realNow() + elapsedMs);
}

describe('the endpoints of a network', () => {
  it.each<[string, Mode]>([
    ['does not answer', 'silent'],
    ['fails', { status: 502 }],
    ['refuses everything, in whatever words', { error: requireRow(REFUSALS[random(REFUSALS.length)]) }],
    ['refuses access', { status: 401 }],
    ['serves another chain', { block: 9, chainId: 2 }],
    ['limits requests', { status: 429 }],
    ['limits requests as EIP-1474 says', { error: { code: -32_005, message: 'limit exceeded' } }],
    [
      'limits requests in its own way',
      { error: { code: -32_007, message: '50/second request limit reached' } },
    ],
  ])('one that %s is left alone, and the next one answers', async (_, mode) => {
    const first = await open(mode);
    const second = await open({ block: 7 });
    const { head } = connect([first, second], {}, mode === 'silent' ? 800 : undefined);
    expect([await head(), await head(), await head()]).toEqual([7n, 7n, 7n]);
    expect(first.requests).toHaveLength(mode !== 'silent' && 'block' in mode ? 0 : 1);
  });

  it('the first one is asked again after its rest, which grows with every failure', async () => {
    const first = await open({ status: 503 });
    const second = await open({ block: 7 });
    const { head } = connect([first, second]);
    for (const restMs of [1_000, 2_000, 4_000]) {
      const before = first.requests.length;
      await head();
      elapse(restMs - 500);
      await head();
      expect(first.requests).toHaveLength(before + 1);
      elapse(600);
    }
    first.mode = { block: 8 };
    expect(await head()).toBe(8n);
    first.mode = { status: 503 };
    expect(await head()).toBe(7n);
    elapse(1_100);
    first.mode = { block: 9 };
    expect(await head()).toBe(9n);
  });

  it('what was in flight when an endpoint failed counts once', async () => {
    const first = await open({ status: 503 });
    const second = await open({ block: 7 });
    const { head, nonce } = connect([first, second]);
    await Promise.all(Array.from({ length: 6 }, () => nonce(anAddress())));
    first.mode = { block: 8 };
    elapse(1_100);
    expect(await head()).toBe(8n);
  });

  it.each<[string, Refusal]>([
    ['lacks a block', { code: -32_000, message: 'header not found' }],
    ['has an error of its own', { code: -39_001, message: 'Unknown block' }],
    ...REFUSALS.map((refusal): [string, Refusal] => [`says ${refusal.code} ${refusal.message}`, refusal]),
  ])('one that %s is not left alone while it answers other requests', async (_, error) => {
    const first = await open({ error, only: 'eth_getTransactionCount' });
    const second = await open({ block: 7 });
    const { nonce, seen } = connect([first, second]);
    expect([await nonce(anAddress()), await nonce(anAddress())]).toEqual([7, 7]);
    expect(seen).toEqual([
      [first.host, 'refused'],
      [second.host, 'answered'],
      [first.host, 'refused'],
      [second.host, 'answered'],
    ]);
  });

  it('what the EVM returned is an answer, and no other one is asked', async () => {
    const first = await open({ error: { code: 3, message: 'execution reverted', data: '0x' } });
    const second = await open({ block: 7 });
    await expect(connect([first, second]).head()).rejects.toThrow('execution reverted');
    expect(second.requests).toEqual([]);
  });

  it('are asked though all of them have failed: the one that rests for the shortest time', async () => {
    const first = await open({ status: 500 });
    const second = await open({ status: 500 });
    const { head } = connect([first, second]);
    await expect(head()).rejects.toThrow('Status: 500');
    const before = second.requests.length;
    first.mode = { block: 7 };
    expect(await head()).toBe(7n);
    expect(second.requests).toHaveLength(before);
  });
});

describe('a read that fails at once', () => {
  it.each<[string, Mode]>([
    ['without an answer', { status: 502 }],
    ['with an error without a reason', { error: { code: -32_603, message: 'internal error' } }],
  ])('%s is repeated', async (_, mode) => {
    const only = await open(mode);
    const { head, seen } = connect([only]);
    const asked = head();
    await until('it was asked', async () => seen.length === 1);
    only.mode = { block: 7 };
    expect(await asked).toBe(7n);
    expect(only.requests).toHaveLength(2);
  });

  it('is repeated twice, and not while the endpoint is down', async () => {
    const only = await open({ status: 502 });
    const { head } = connect([only]);
    for (const requests of [3, 4, 5]) {
      await expect(head()).rejects.toThrow('Status: 502');
      expect(only.requests).toHaveLength(requests);
      elapse(60_000);
    }
  });

  it('is not repeated where the network gives a reason', async () => {
    const only = await open({ error: { code: -32_603, message: 'reverted', data: '0x08c379a0' } });
    await expect(connect([only]).head()).rejects.toThrow('reverted');
    expect(only.requests).toEqual([1]);
  });
});

it('a transaction is sent once', async () => {
  const only = await open({ status: 502 });
  const { client } = connect([only]);
  await expect(client.rpc.sendRawTransaction({ serializedTransaction: '0x02' })).rejects.toThrow('502');
  expect(only.requests).toEqual([1]);
});

it.each<[string, Mode]>([
  ['does not answer', 'silent'],
  ['fails', { status: 502 }],
  ['gives an error that names its key', { error: { code: -32_603, message: 'no such project: /secretKey' } }],
])('an error about an endpoint that %s has no part that names its path', async (_, mode) => {
  const { client } = connect([await open(mode)], {}, mode === 'silent' ? 300 : undefined);
  const error = await ask(client, (rpc) => rpc.getBlockNumber()).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'ChainUnavailable', message: expect.stringContaining('One (1)') });
  expect(inspect(error, { depth: null, showHidden: true })).not.toContain('secretKey');
});

describe('an endpoint that limits requests', () => {
  it.each([
    ['seconds', () => '7'],
    ['a date', () => new Date(Date.now() + 8_000).toUTCString()],
  ])('is left alone for as long as it says in %s, though there is no other', async (_, retryAfter) => {
    const only = await open({ status: 429, retryAfter: retryAfter() });
    const { head } = connect([only]);
    await expect(head()).rejects.toThrow('Status: 429');
    only.mode = { block: 7 };
    elapse(5_500);
    await expect(head()).rejects.toThrow(
      /^all endpoints limit requests \(127\.0\.0\.1:\d+\): again in \d+ ms/,
    );
    await expect(head()).rejects.not.toThrow('secret');
    expect(only.requests).toEqual([1]);
    elapse(2_600);
    expect(await head()).toBe(7n);
  });

  it('is left alone for a minute at most', async () => {
    const only = await open({ status: 429, retryAfter: '86400' });
    const { head } = connect([only]);
    await expect(head()).rejects.toThrow('Status: 429');
    only.mode = { block: 7 };
    elapse(60_100);
    expect(await head()).toBe(7n);
  });
});

it('calls go in batches where the network says so', async () => {
  const only = await open({ block: 7 });
  const { nonce } = connect([only], { rpcBatchSize: 3 });
  const asked = Array.from({ length: 4 }, () => nonce(anAddress()));
  expect(await Promise.all(asked)).toEqual([7, 7, 7, 7]);
  expect(only.requests.toSorted()).toEqual([1, 3]);
});
