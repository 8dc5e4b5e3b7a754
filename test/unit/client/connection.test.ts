import { createApi } from '@orgwallet/client';

const BASE = 'https://wallet.example/api/v1';

/** What is sent for one call, with these settings. */
async function sentWith(settings: { apiKey?: string }): Promise<RequestInit> {
  const sent: RequestInit[] = [];
  const fetcher: typeof fetch = async (_, init) => {
    sent.push(init ?? {});
    return new Response('{"data":[]}');
  };
  await createApi({ baseUrl: BASE, fetch: fetcher, ...settings }).listMembers();
  return sent[0] ?? {};
}

describe('a connection', () => {
  it('sends its API key', async () => {
    const { headers, credentials } = await sentWith({ apiKey: 'ow_live_1' });
    expect([headers, credentials]).toEqual([{ authorization: 'Bearer ow_live_1' }, undefined]);
  });

  it.each([
    'http://wallet.example/api/v1',
    'http://127.evil.example/api/v1',
    'http://localhost.evil.example',
  ])('is not made to %s, where others can read the key', (baseUrl) => {
    expect(() => createApi({ baseUrl, apiKey: 'ow_live_1' })).toThrow(TypeError);
  });

  it.each(['http://127.0.0.1:1/api/v1', 'http://localhost:1/api/v1', 'http://[::1]:1/api/v1'])(
    'is made to %s',
    (baseUrl) => {
      expect(() => createApi({ baseUrl, apiKey: 'ow_live_1' })).not.toThrow();
    },
  );

  it.each([
    'https://wallet.example',
    'https://wallet.example/',
    'https://wallet.example/api',
    'https://wallet.example/api/v1/members',
    'https://wallet.example/api/v1?key=1',
    'https://wallet.example/api/v1#top',
  ])('is not made to %s, which is not the API', (baseUrl) => {
    expect(() => createApi({ baseUrl, apiKey: 'ow_live_1' })).toThrow(
      new TypeError(`baseUrl is ${baseUrl} (expected https://…/api/v1)`),
    );
  });

  it.each(['https://wallet.example/api/v1/', 'https://example.com/wallet/api/v1'])(
    'is made to %s',
    (baseUrl) => {
      expect(() => createApi({ baseUrl, apiKey: 'ow_live_1' })).not.toThrow();
    },
  );

  it('sends the cookie of the browser, without a key', async () => {
    const { headers, credentials } = await sentWith({});
    expect([headers, credentials]).toEqual([{}, 'same-origin']);
  });
});
