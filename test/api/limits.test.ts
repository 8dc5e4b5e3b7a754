import { randomBytes } from 'node:crypto';
import { refusal, refusalIn, startApi, startSeparateApi } from '../support/api';
import { checkConformance } from '../support/conformance';
import type { Answer } from '../support/http';
import type { TestOrganization, TestService } from '../support/service';
import { sendPlain } from '../support/sockets';
import { until } from '../support/until';

const BURST = 40;
const RATE_LIMITED = refusal(429, 'rateLimited', null);
const limits = { ORGWALLET_ROLES: 'api', RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: String(BURST) };

/** Two processes of one deployment. */
let first: TestService;
let second: TestService;
/** Behind a proxy, with another deployment's limits. */
let proxied: TestService;

beforeAll(async () => {
  first = await startApi({ env: limits });
  second = await startSeparateApi({ env: limits, database: first.env });
  proxied = await startApi({ env: { ORGWALLET_ROLES: 'api', TRUSTED_PROXIES: '127.0.0.1/32, 10.1.0.0/16' } });
});
afterAll(() => Promise.all([first, second, proxied].map((service) => service?.stop())));

const many = async (count: number, send: (index: number) => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => send(index)));
const ofStatus = (answers: Answer[], status: number) => answers.filter((answer) => answer.status === status);

describe('the rate limit of a key', () => {
  it('is in the headers of every response', async () => {
    const org = await first.createOrganization();
    const answers: Answer[] = [];
    for (let count = 0; count < 3; count += 1) {
      answers.push(await first.http.send({ key: org.readKey, path: '/api/v1/members' }));
    }
    const remaining = answers.map(({ headers }) => Number(headers['ratelimit-remaining']));
    expect(remaining).toEqual([BURST - 1, BURST - 2, BURST - 3]);
    for (const { headers } of answers) {
      expect(headers['ratelimit-limit']).toBe(String(BURST));
      expect(Number(headers['ratelimit-reset'])).toBeGreaterThan(0);
    }
    const unknown = await first.http.send({ key: org.readKey, path: '/api/v1/nothing' });
    expect(unknown.headers['ratelimit-remaining']).toBe(String(BURST - 4));
  });

  it('applies across processes, and per key', async () => {
    const org = await first.createOrganization();
    const startedMs = Date.now();
    const answers = await many(3 * BURST, (index) =>
      (index % 2 === 0 ? first : second).http.send({ key: org.readKey, path: '/api/v1/members' }),
    );
    const seconds = (Date.now() - startedMs) / 1_000;
    const served = ofStatus(answers, 200).length;
    expect(served).toBeGreaterThanOrEqual(BURST);
    expect(served).toBeLessThanOrEqual(BURST + Math.ceil(seconds) + 1);
    const refused = ofStatus(answers, 429);
    expect(served + refused.length).toBe(answers.length);
    for (const answer of refused) {
      expect(refusalIn(answer, RATE_LIMITED)).toEqual(RATE_LIMITED);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(answer.headers).toMatchObject({
        'ratelimit-limit': String(BURST),
        'ratelimit-remaining': '0',
        'ratelimit-reset': expect.stringMatching(/^\d+$/),
      });
    }
    const other = await second.http.send({ key: org.adminKey, path: '/api/v1/members' });
    expect(other.status).toBe(200);
    await until(
      'the bucket has filled again',
      async () => {
        const { status } = await second.http.send({ key: org.readKey, path: '/api/v1/members' });
        return status === 200;
      },
      5_000,
    );
  });

  it('is checked right after the key', async () => {
    const org = await first.createOrganization();
    for (const ask of [
      { path: '/api/v1/accounts/proposals/create', body: '{', idempotencyKey: null },
      { path: '/api/v1/nothing' },
      { path: '/api/v1/members', method: 'OPTIONS' },
    ]) {
      const answer = await until('the bucket is empty', async () => {
        const answers = await many(BURST / 2, () => first.http.send({ key: org.adminKey, ...ask }));
        return ofStatus(answers, 429)[0];
      });
      expect(refusalIn(answer, RATE_LIMITED)).toEqual(RATE_LIMITED);
    }
    const plain = await sendPlain(
      first,
      { path: '/api/v1/members', headers: { authorization: `Bearer ${org.adminKey}` } },
      checkConformance,
    );
    expect(plain.status).toBe(426);
  });
});

describe('requests without a valid key', () => {
  it('are limited per address, without effect on valid keys', async () => {
    const org: TestOrganization = await second.createOrganization();
    const before = await org.stored();
    const answers: Answer[] = [];
    await until('they are too many', async () => {
      const wrong = { key: 'ow_live_wrong', path: '/api/v1/members' };
      answers.push(...(await many(130, () => second.http.send(wrong))));
      return ofStatus(answers, 429).length > 0;
    });
    expect(ofStatus(answers, 401).length).toBeGreaterThanOrEqual(100);
    const refused = ofStatus(answers, 429);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused) {
      expect(refusalIn(answer, RATE_LIMITED)).toEqual(RATE_LIMITED);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    }
    expect((await second.http.send({ key: org.readKey, path: '/api/v1/members' })).status).toBe(200);
    expect(await org.stored()).toEqual(before);
  });

  it('with invented keys do not keep a key that was just issued from working', async () => {
    const org = await second.createOrganization();
    const ask = (key: string) => second.http.send({ key, path: '/api/v1/members' });
    const flood = many(600, () => ask(`ow_live_${randomBytes(32).toString('base64url')}`));
    expect((await ask(org.readKey)).status).toBe(200);
    const answers = await flood;
    expect(ofStatus(answers, 429).length).toBeGreaterThan(0);
    expect(ofStatus(answers, 401).length + ofStatus(answers, 429).length).toBe(answers.length);
  });

  it('through a proxy count against the caller', async () => {
    const from = (address: string) => () =>
      proxied.http.send({ path: '/api/v1/members', headers: { 'x-forwarded-for': address } });
    await until('they are too many, whatever is written before them', async () => {
      const answers = await many(110, from('203.0.113.7'));
      expect((await from('203.0.113.8')()).status).toBe(401);
      // The last address that is not a proxy of ours is the caller, whatever the caller wrote before it.
      const { status } = await from('203.0.113.9, 203.0.113.7, 10.1.2.3')();
      return ofStatus(answers, 429).length > 0 && status === 429;
    });
  });
});

describe('behind a trusted proxy', () => {
  it.each([
    [{ 'x-forwarded-proto': 'https' }, 200],
    [{ 'x-forwarded-proto': 'https, https' }, 200],
    [{ 'x-forwarded-proto': 'http' }, 426],
    // The first protocol is that of the caller, the others are those between proxies.
    [{ 'x-forwarded-proto': 'https, http' }, 200],
    [{ 'x-forwarded-proto': 'http, https' }, 426],
    [{ 'x-forwarded-proto': 'HTTPS' }, 426],
    [{}, 426],
  ])('the plain port with %p answers %i', async (headers, status) => {
    const org = await proxied.createOrganization();
    const answer = await sendPlain(
      proxied,
      { path: '/api/v1/networks', headers: { ...headers, authorization: `Bearer ${org.readKey}` } },
      checkConformance,
    );
    expect(answer.status).toBe(status);
  });

  it('a request that reached the proxy without TLS is refused on the TLS port too', async () => {
    const org = await proxied.createOrganization();
    const answer = await proxied.http.send({
      key: org.readKey,
      path: '/api/v1/networks',
      headers: { 'x-forwarded-proto': 'http' },
    });
    expect(answer.status).toBe(426);
  });
});
