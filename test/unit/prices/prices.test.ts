import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createReadPrices, MOST_AGE_MS } from '../../../src/prices/prices';

const AT = '2026-01-31T18:00:00.000Z';
const NOW = Date.parse(AT);
/** 50 MB of spaces. */
const UNPACKED_LONG = gzipSync(' '.repeat(50_000_000));
const list = (more: object = {}) =>
  JSON.stringify({
    currency: 'USD',
    at: AT,
    prices: [{ networkId: 1, tokenAddress: `0x${'0'.repeat(40)}`, price: '2971.23' }],
    ...more,
  });

let dir: string;
let nowMs = NOW;
const servers: Server[] = [];
beforeEach(() => {
  nowMs = NOW;
  dir = mkdtempSync(join(tmpdir(), 'prices-'));
});
afterEach(() => {
  jest.useRealTimers();
  rmSync(dir, { recursive: true });
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Serves, and counts the requests. */
async function serve(listener: RequestListener): Promise<{ url: string; count: () => number }> {
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    listener(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/prices?key=s3cret`, count: () => count };
}

const readerOf = (prices: { file: string } | { url: string }) => {
  const read = createReadPrices({ prices }, { now: () => nowMs });
  if (!read) throw new Error('there is no reader');
  return read;
};
/** What is read as if nobody had asked before. */
const readFile = (file: string) => readerOf({ file })();

it('are not there without a setting', () => {
  expect(createReadPrices({})).toBeUndefined();
});

describe('a file', () => {
  const written = (text: string | Buffer) => {
    const file = join(dir, 'prices.json');
    writeFileSync(file, text);
    return file;
  };

  it('is read', async () => {
    const { status, problem, list: found } = await readFile(written(`\ufeff${list()}`));
    expect([status, problem, found?.currency, found?.prices.size]).toEqual(['current', null, 'USD', 1]);
  });

  it('is too old after a day, and so is each price in it', async () => {
    const file = written(list());
    nowMs = NOW + MOST_AGE_MS;
    expect((await readFile(file)).status).toBe('current');
    nowMs += 1;
    expect(await readFile(file)).toMatchObject({
      status: 'stale',
      problem: 'PRICES_FILE is older than 24 h',
    });
    const old = { networkId: 1, tokenAddress: `0x${'1'.repeat(40)}`, price: '1', at: '2026-01-30T17:59:59Z' };
    nowMs = NOW;
    const { status, problem } = await readFile(written(list({ prices: [old] })));
    expect([status, problem]).toEqual(['current', 'PRICES_FILE: entries are left out: 1 older than 24 h']);
  });

  it('says which entries are bad', async () => {
    const { status, problem } = await readFile(written(list({ prices: [{}, 7] })));
    expect(status).toBe('current');
    expect(problem).toContain('PRICES_FILE: entries are left out: 2 bad, the first is prices[0]: networkId');
  });

  it.each([
    ['half written', list().slice(0, 40), 'broken', 'PRICES_FILE is not JSON'],
    ['empty', '', 'broken', 'PRICES_FILE is not JSON'],
    ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'unavailable', 'PRICES_FILE is not UTF-8'],
    [
      'longer than a megabyte',
      ' '.repeat(1_048_577),
      'unavailable',
      'PRICES_FILE is longer than 1048576 bytes',
    ],
  ])('that is %s gives no prices', async (_, text, status, problem) => {
    expect(await readFile(written(text))).toEqual({ status, problem });
  });

  it.each([
    ['is missing', () => join(dir, 'none.json'), 'PRICES_FILE cannot be read (ENOENT)'],
    ['is a folder', () => dir, 'PRICES_FILE is not a file'],
    ['is a device without end', () => '/dev/zero', 'PRICES_FILE is not a file'],
  ])('that %s gives no prices', async (_, file, problem) => {
    expect(await readFile(file())).toEqual({ status: 'unavailable', problem });
  });

  it('that was good gives none once it is broken or gone', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const file = written(list());
    const read = readerOf({ file });
    expect((await read()).status).toBe('current');
    writeFileSync(file, '{');
    expect((await read()).status).toBe('current');
    jest.advanceTimersByTime(5_001);
    expect(await read()).toEqual({ status: 'broken', problem: 'PRICES_FILE is not JSON' });
    rmSync(file);
    jest.advanceTimersByTime(5_001);
    expect((await read()).status).toBe('unavailable');
  });
});

describe('an address', () => {
  it('is asked once for all who ask, and again after a minute', async () => {
    jest.useFakeTimers({
      doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'setTimeout', 'clearTimeout'],
    });
    const { url, count } = await serve((_, response) => response.end(list()));
    const read = readerOf({ url });
    const all = await Promise.all([read(), read(), read()]);
    expect(all.map(({ status }) => status)).toEqual(['current', 'current', 'current']);
    await read();
    expect(count()).toBe(1);
    jest.advanceTimersByTime(60_001);
    await read();
    expect(count()).toBe(2);
  });

  it.each<[string, RequestListener, string, string]>([
    ['answers with an error', (_, r) => r.writeHead(429).end('{}'), 'unavailable', 'answers with status 429'],
    [
      'leads elsewhere',
      (_, r) => r.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
      'unavailable',
      'answers with status 302',
    ],
    ['answers with a page', (_, r) => r.end('<html>'), 'broken', 'is not JSON'],
    ['breaks off', (_, r) => r.write('{', () => r.destroy()), 'unavailable', 'does not answer'],
    [
      'never ends',
      (_, r) => {
        const more = () => r.write(' '.repeat(65_536), () => setImmediate(more));
        more();
      },
      'unavailable',
      'is longer than 1048576 bytes',
    ],
    [
      'unpacks to more than a megabyte',
      (_, r) => r.writeHead(200, { 'content-encoding': 'gzip' }).end(UNPACKED_LONG),
      'unavailable',
      'is longer than 1048576 bytes',
    ],
    ['is silent', () => undefined, 'unavailable', 'did not answer within 3 s'],
    [
      'is slow to the end',
      (_, r) => {
        r.write('{');
      },
      'unavailable',
      'did not answer within 3 s',
    ],
  ])('that %s gives no prices, and is not named', async (_, listener, status, problem) => {
    const { url } = await serve(listener);
    const found = await readerOf({ url })();
    expect(found.status).toBe(status);
    expect(found.problem).toContain(`PRICES_URL ${problem}`);
    expect(found.problem).not.toContain('s3cret');
    expect(found.problem).not.toContain('127.0.0.1');
  });

  it('that nobody answers at gives no prices', async () => {
    const found = await readerOf({ url: 'http://127.0.0.1:9/?key=s3cret' })();
    expect(found.status).toBe('unavailable');
    expect(found.problem).toContain('PRICES_URL does not answer');
    expect(found.problem).not.toContain('s3cret');
  });

  it('that fails leaves what came last, until that is too old; what is broken replaces it', async () => {
    jest.useFakeTimers({
      doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'setTimeout', 'clearTimeout'],
    });
    let answer: RequestListener = (_, response) => response.end(list());
    const { url } = await serve((request, response) => answer(request, response));
    const read = readerOf({ url });
    const later = () => {
      jest.advanceTimersByTime(60_001);
      return read();
    };
    await read();
    answer = (_, response) => response.writeHead(503).end();
    expect(await later()).toMatchObject({ status: 'current', problem: 'PRICES_URL answers with status 503' });
    nowMs = NOW + MOST_AGE_MS + 1;
    expect(await later()).toMatchObject({ status: 'stale', problem: 'PRICES_URL answers with status 503' });
    nowMs = NOW;
    answer = (_, response) => response.end('{}');
    expect((await later()).status).toBe('broken');
    answer = (_, response) => response.writeHead(503).end();
    expect(await later()).toEqual({ status: 'unavailable', problem: 'PRICES_URL answers with status 503' });
  });
});
