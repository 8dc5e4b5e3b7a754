import { mkdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { startApi } from '../support/api';
import type { TestService } from '../support/service';
import { temporaryDir } from '../support/stack';

const PAGE = '<!doctype html><title>Console</title>';
const SCRIPT = 'export const answer = 42;\n';
const OWN = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': expect.stringContaining('camera=()'),
};

const dir = join(temporaryDir(), 'console');
let api: TestService;

function build(page = PAGE, builtAt = new Date()) {
  mkdirSync(join(dir, 'assets'), { recursive: true });
  writeFileSync(join(dir, 'assets/main-1a2b.js'), SCRIPT);
  writeFileSync(join(dir, 'assets/main-1a2b.js.gz'), gzipSync(SCRIPT));
  writeFileSync(join(dir, 'assets/style.css'), 'a{}');
  writeFileSync(join(dir, 'icon.svg'), '<svg/>');
  writeFileSync(join(dir, 'index.html'), page);
  writeFileSync(join(dir, '.built-from'), 'sources');
  utimesSync(join(dir, '.built-from'), builtAt, builtAt);
}

beforeAll(async () => {
  build();
  api = await startApi({ env: { CONSOLE_DIR: dir } });
});
afterAll(() => api?.stop());

const open = (path: string, headers: Record<string, string> = {}) =>
  api.http.send({ path, headers: { accept: 'text/html,*/*;q=0.8', ...headers } });

describe('the console', () => {
  it.each(['/', '/transactions/txn_1', '/nothing', '/index.html', '/sessionless', '/documents'])(
    'has its page at %s',
    async (path) => {
      const answer = await open(path);
      expect([answer.status, answer.text]).toEqual([200, PAGE]);
      expect(answer.headers).toMatchObject({
        ...OWN,
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
      });
    },
  );

  it('has its page at / for whoever asks', async () => {
    expect((await api.http.send({ path: '/' })).text).toBe(PAGE);
    const head = await api.http.send({ path: '/', method: 'HEAD' });
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', String(PAGE.length)]);
    expect((await api.http.send({ path: '/', method: 'POST' })).status).toBe(404);
  });

  it.each([
    ['/assets/main-1a2b.js', 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
    ['/assets/style.css', 'text/css; charset=utf-8', 'public, max-age=31536000, immutable'],
    ['/icon.svg', 'image/svg+xml', 'no-cache'],
  ])('serves %s', async (path, type, caching) => {
    const answer = await api.http.send({ path });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({ ...OWN, 'content-type': type, 'cache-control': caching });
  });

  it('sends a file compressed where it is, and the browser takes it', async () => {
    const path = '/assets/main-1a2b.js';
    const small = await api.http.send({ path, method: 'HEAD', headers: { 'accept-encoding': 'br, gzip' } });
    expect(small.headers).toMatchObject({
      'content-encoding': 'gzip',
      'content-length': String(gzipSync(SCRIPT).length),
      vary: 'Accept-Encoding',
    });
    for (const encoding of ['', 'br', 'gzip;q=0']) {
      const plain = await api.http.send({ path, headers: { 'accept-encoding': encoding } });
      expect([plain.text, plain.headers['content-encoding']]).toEqual([SCRIPT, undefined]);
    }
  });

  it('sends nothing that the browser has', async () => {
    const { etag } = (await open('/')).headers;
    const again = await open('/', { 'if-none-match': String(etag) });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  it.each([
    '/api/v2/members',
    '/api',
    '/docs/nothing',
    '/openapi.json/x',
    '/sessions/x',
    '/assets/nothing.js',
    '/assets/main-1a2b.js.gz',
    '/assets/../index.html/x',
    '/assets/%2e%2e/index.html',
    '/assets/..%2findex.html',
  ])('has no page at %s', async (path) => {
    expect((await open(path)).status).toBe(404);
  });

  it.each(['/nothing', '/favicon.ico', '/icon.svg/', '/__proto__', '/../package.json', '/.built-from'])(
    'has no file %s',
    async (path) => {
      expect((await api.http.send({ path })).body.code).toBe('notFound');
    },
  );

  it('leaves what was there as it was', async () => {
    const docs = await open('/docs');
    expect(docs.text).toContain('swagger-ui');
    const { 'content-security-policy': _, ...others } = OWN;
    expect(docs.headers).toMatchObject(others);
    expect((await api.http.send({ path: '/docs/start.js' })).headers).toMatchObject(others);
    expect((await open('/openapi.json')).body.openapi).toMatch(/^3/);
    expect((await open('/api/v1/members')).status).toBe(401);
  });

  it('is read again when it has been built again', async () => {
    build('<!doctype html><title>Next</title>', new Date(Date.now() + 10_000));
    expect((await open('/')).text).toContain('Next');
  });

  it('is not read while it is built: a page and files of two builds would stay', async () => {
    const finished = join(dir, '.built-from');
    rmSync(finished);
    writeFileSync(join(dir, 'index.html'), '<!doctype html><title>Half</title>');
    expect((await open('/')).status).toBe(404);
    build('<!doctype html><title>Whole</title>', new Date(Date.now() + 20_000));
    expect((await open('/')).text).toContain('Whole');
    // Written later than the page was: the page's own time does not say so.
    const { mtime } = statSync(join(dir, 'index.html'));
    writeFileSync(join(dir, 'index.html'), '<!doctype html><title>Later</title>');
    utimesSync(join(dir, 'index.html'), mtime, mtime);
    utimesSync(finished, new Date(), new Date(Date.now() + 30_000));
    expect((await open('/')).text).toContain('Later');
  });

  it('is not found where it is not built', async () => {
    rmSync(dir, { recursive: true });
    for (const path of ['/', '/transactions']) {
      const answer = await open(path);
      expect([answer.status, answer.body.message]).toEqual([
        404,
        'there is no console here: it is not built (npm run build)',
      ]);
    }
    expect((await api.http.send({ path: '/icon.svg' })).body.message).toBe('path not found');
  });
});
