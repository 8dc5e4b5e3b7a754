import { verifyWebhook, WebhookError, type WebhookEvent } from '@orgwallet/client';
import { Webhook } from 'standardwebhooks';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const NOW = Date.parse('2026-01-01T00:00:00Z');
const hash = (n: number) => String(n).padStart(64, '0');

const event = (n: number, fields: Partial<WebhookEvent> = {}): WebhookEvent => ({
  position: String(n),
  hash: hash(n),
  previousHash: hash(n - 1),
  id: `log_${n}`,
  organizationId: 'org_1',
  type: 'group.created',
  occurredAt: '2026-01-01T00:00:00.000Z',
  resource: { type: 'group', id: 'grp_1' },
  actor: { type: 'system', id: 'system', name: 'orgwallet', walletAddress: '' },
  data: {},
  ...fields,
});

function requestOf(one: WebhookEvent, { id = one.id, atMs = NOW }: { id?: string; atMs?: number } = {}) {
  const body = JSON.stringify(one);
  const at = new Date(atMs);
  return {
    body,
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(atMs / 1_000)),
      'webhook-signature': new Webhook(SECRET).sign(id, at, body),
    },
  };
}
const keys = { secrets: [SECRET] };
const verified = (
  ...[request, options]: [Parameters<typeof verifyWebhook>[0], Parameters<typeof verifyWebhook>[2]?]
) => verifyWebhook(request, keys, { nowMs: NOW, ...options });
const reasonOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'verified',
    (error) => (error instanceof WebhookError ? error.reason : `threw ${error}`),
  );

describe('verifyWebhook', () => {
  it('returns the event of what the library of Standard Webhooks has signed', async () => {
    await expect(verified(requestOf(event(7)))).resolves.toEqual(event(7));
    const { headers, body } = requestOf(event(7));
    await expect(
      verified({ headers: new Headers(headers), body: new TextEncoder().encode(body) }),
    ).resolves.toEqual(event(7));
  });

  it('refuses an event of another organization, whoever has signed it', async () => {
    const request = requestOf(event(7));
    const of = (organizationId: string) =>
      reasonOf(verifyWebhook(request, { ...keys, organizationId }, { nowMs: NOW }));
    expect([await of('org_1'), await of('org_2'), await of('')]).toEqual([
      'verified',
      'signature',
      'signature',
    ]);
  });

  it('takes any of several secrets and signatures', async () => {
    const request = requestOf(event(7));
    const other = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
    await expect(verifyWebhook(request, { secrets: [other, SECRET] }, { nowMs: NOW })).resolves.toEqual(
      event(7),
    );
    expect(await reasonOf(verifyWebhook(request, { secrets: [other] }, { nowMs: NOW }))).toBe('signature');
    const both = {
      ...request.headers,
      'webhook-signature': `v1,AAAA v2,xx ${request.headers['webhook-signature']}`,
    };
    await expect(verified({ ...request, headers: both })).resolves.toEqual(event(7));
  });

  it('refuses without keys, whatever is signed', async () => {
    expect(await reasonOf(verifyWebhook(requestOf(event(7)), {}, { nowMs: NOW }))).toBe('signature');
    expect(await reasonOf(verifyWebhook(requestOf(event(7)), { secrets: [] }, { nowMs: NOW }))).toBe(
      'signature',
    );
  });

  it.each([
    ['webhook-id', 'malformed'],
    ['webhook-timestamp', 'malformed'],
    ['webhook-signature', 'malformed'],
  ])('refuses a request without %s', async (name, reason) => {
    const { headers, body } = requestOf(event(7));
    expect(await reasonOf(verified({ body, headers: { ...headers, [name]: undefined } }))).toBe(reason);
  });

  it('refuses a signature that is none, and an id or a time of another request', async () => {
    const { headers, body } = requestOf(event(7));
    for (const changed of [
      { 'webhook-signature': 'nonsense' },
      { 'webhook-signature': 'v1,%%%' },
      { 'webhook-signature': headers['webhook-signature'].replace('v1,', 'v1a,') },
      { 'webhook-id': 'log_8' },
      { 'webhook-timestamp': String(NOW / 1_000 + 1) },
    ]) {
      expect(await reasonOf(verified({ body, headers: { ...headers, ...changed } }))).toBe('signature');
    }
    expect(await reasonOf(verified({ ...requestOf(event(7), { id: 'log_8' }) }))).toBe('malformed');
  });

  it('refuses what is more than five minutes from now', async () => {
    for (const minutes of [-6, 6]) {
      expect(await reasonOf(verified(requestOf(event(7), { atMs: NOW + minutes * 60_000 })))).toBe(
        'timestamp',
      );
    }
    expect(await reasonOf(verified(requestOf(event(7), { atMs: NOW - 240_000 })))).toBe('verified');
    const { headers, body } = requestOf(event(7));
    for (const text of ['NaN', '-1', '1e9', 'soon']) {
      expect(await reasonOf(verified({ body, headers: { ...headers, 'webhook-timestamp': text } }))).toBe(
        'timestamp',
      );
    }
  });

  it('compares the chain with the last event that was handled', async () => {
    const previous = event(6);
    const after = (one: WebhookEvent) => reasonOf(verified(requestOf(one), { previous }));
    expect(await after(event(7))).toBe('verified');
    expect(await after(event(8))).toBe('gap');
    expect(await after(event(6))).toBe('repeated');
    expect(await after(event(5))).toBe('repeated');
    expect(await after(event(6, { hash: hash(99) }))).toBe('forked');
    expect(await after(event(7, { previousHash: hash(99) }))).toBe('forked');
    expect(await after(event(0, { type: 'webhook.test' }))).toBe('verified');
  });
});
