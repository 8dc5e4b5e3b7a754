import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { checkApi } from '../../src/cli/doctor/serviceChecks';
import { loadConfig } from '../../src/config';
import { issueApiKey } from '../../src/credentials/apiKeys';
import { migrate } from '../../src/db/migrate';
import { OPERATOR } from '../../src/domain/actor';
import { ALL_RIGHTS } from '../../src/domain/keyRights';
import type { Part } from '../../tools/dev/parts';
import { checkConformance } from '../support/conformance';
import { connectAsOwner, makeOrganization, serviceSettings, startServicePart } from '../support/service';

let settings: NodeJS.ProcessEnv;
let service: Part;

beforeAll(async () => {
  settings = await serviceSettings({
    env: {
      NODE_ENV: 'production',
      ORGWALLET_ROLES: 'api',
      TRUSTED_PROXIES: '127.0.0.1',
      HTTP_HOST: '127.0.0.1',
    },
  });
  await migrate(settings.MIGRATION_DATABASE_URL ?? '', { production: true });
  rmSync(join(settings.ORGWALLET_DATA_DIR ?? '', 'tls'), { recursive: true });
  service = await startServicePart(settings);
});
afterAll(() => service?.stop());

const statusOf = async (headers: Record<string, string>) =>
  (await fetch(`http://127.0.0.1:${settings.HTTP_PORT}/openapi.json`, { headers })).status;

describe('a service in production whose trusted proxy terminates TLS', () => {
  it('serves requests that reached the proxy over TLS, without a certificate', async () => {
    expect(await statusOf({ 'X-Forwarded-Proto': 'https' })).toBe(200);
  });

  it('has neither console nor sessions without ORIGINS', async () => {
    const headers = { 'X-Forwarded-Proto': 'https', Accept: 'text/html' };
    const asked = [
      ...['/', '/transactions', '/session', '/session/nonce', '/sessions'].map((path) => ({
        method: 'GET',
        path,
      })),
      { method: 'POST', path: '/session' },
      { method: 'DELETE', path: '/session' },
    ];
    for (const { method, path } of asked) {
      const answer = await fetch(`http://127.0.0.1:${settings.HTTP_PORT}${path}`, { method, headers });
      const text = await answer.text();
      const { status } = answer;
      const body = JSON.parse(text);
      checkConformance({ method, path }, { status, headers: Object.fromEntries(answer.headers), text, body });
      expect([path, status, body]).toMatchObject([
        path,
        404,
        { code: 'notFound', message: expect.stringContaining('the setting ORIGINS names no origin') },
      ]);
    }
  });

  it('refuses a caller without TLS', async () => {
    expect(await statusOf({})).toBe(426);
    expect(await statusOf({ 'X-Forwarded-Proto': 'http' })).toBe(426);
  });

  it('has no TLS port', async () => {
    await expect(fetch(`https://127.0.0.1:${settings.HTTPS_PORT}/openapi.json`)).rejects.toMatchObject({
      cause: { code: 'ECONNREFUSED' },
    });
  });

  it('listens on the interface of HTTP_HOST only', async () => {
    await expect(fetch(`http://127.0.0.2:${settings.HTTP_PORT}/openapi.json`)).rejects.toMatchObject({
      cause: { code: 'ECONNREFUSED' },
    });
  });

  describe('with a key that is for some addresses', () => {
    const [INSIDE, OUTSIDE] = ['203.0.113.9', '198.51.100.7'];
    let key: string;

    beforeAll(async () => {
      const db = connectAsOwner(settings);
      const { id: organizationId, bot } = await makeOrganization(db);
      const rights = { ...ALL_RIGHTS, addressRanges: ['203.0.113.0/24', '::ffff:c612:0/112'] };
      const input = { organizationId, memberIds: [bot.id], rights, actor: OPERATOR };
      ({ key } = await db.transaction((tx) => issueApiKey(tx, input)));
      await db.destroy();
    });

    const statusFrom = async (forwardedFor: string) => {
      const headers = {
        'X-Forwarded-Proto': 'https',
        'X-Forwarded-For': forwardedFor,
        Authorization: `Bearer ${key}`,
      };
      return (await fetch(`http://127.0.0.1:${settings.HTTP_PORT}/api/v1/networks`, { headers })).status;
    };

    it.each([
      [INSIDE, 200],
      [`::ffff:${INSIDE}`, 200],
      [`${OUTSIDE}, ${INSIDE}`, 200],
      ['198.18.0.1', 200],
      [OUTSIDE, 403],
      // What the caller has sent itself stands before what the proxy adds.
      [`${INSIDE}, ${OUTSIDE}`, 403],
      [`${INSIDE}, ::ffff:${OUTSIDE}`, 403],
      [`${INSIDE}:443`, 403],
      ['', 403],
    ])('answers a request from "%s" with %i', async (forwardedFor, expected) => {
      expect(await statusFrom(forwardedFor)).toBe(expected);
    });

    it('answers who tries a stolen key from elsewhere as seldom as who invents one', async () => {
      const statuses: number[] = [];
      for (let i = 0; i < 140; i += 1) statuses.push(await statusFrom('192.0.2.77'));
      expect(new Set(statuses)).toEqual(new Set([403, 429]));
      expect(await statusFrom(INSIDE)).toBe(200);
    });
  });

  it('is checked by doctor', async () => {
    expect(await checkApi(loadConfig(settings))).toEqual([
      {
        part: 'api',
        status: 'ok',
        found: `http://127.0.0.1:${settings.HTTP_PORT} answers, for the proxies of TRUSTED_PROXIES`,
      },
    ]);
  });
});
