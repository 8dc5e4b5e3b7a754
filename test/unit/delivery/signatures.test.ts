import { randomBytes } from 'node:crypto';
import { verifyWebhook } from '@orgwallet/client';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import type { Destination } from '../../../src/db/destinations';
import { createDeliverySigner } from '../../../src/delivery/signatures';

const HOUR = 3_600_000;
const signer = createDeliverySigner(randomBytes(32));
const destination = (fields: Partial<Destination> = {}) =>
  ({ id: 'whk_01jz8k3v5fe5ht0n2m6w9r4xyz', generation: 1, rotatedAt: null, ...fields }) as Destination;
const body = JSON.stringify({ id: 'log_1', organizationId: 'org_1', position: '7', note: 'é ✓ 𝄞' });

const secretsOf = (of: Destination, nowMs?: number) =>
  signer.secretsOf(of, nowMs).map(({ secret }) => secret);

test('the library of Standard Webhooks verifies what is signed', () => {
  const headers = signer.headersOf(destination(), { eventId: 'log_1', body });
  const [secret = ''] = secretsOf(destination());
  expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
  const [other = ''] = secretsOf(destination({ id: 'whk_01jz8k3v5fe5ht0n2m6w9r4xy0' }));
  expect(() => new Webhook(other).verify(body, headers)).toThrow();
});

test('for a day after a rotation both secrets verify, then the new one alone', () => {
  const rotatedAt = new Date(Date.now() - 23 * HOUR);
  const rotated = destination({ generation: 2, rotatedAt });
  const [now = '', before = ''] = secretsOf(rotated);
  expect(secretsOf(destination())).toEqual([before]);
  for (const secret of [now, before]) {
    const headers = signer.headersOf(rotated, { eventId: 'log_1', body });
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  }
  const later = destination({ generation: 2, rotatedAt: new Date(Date.now() - 25 * HOUR) });
  expect(secretsOf(later)).toEqual([now]);
  expect(() =>
    new Webhook(before).verify(body, signer.headersOf(later, { eventId: 'log_1', body })),
  ).toThrow();
});

test('the public key verifies the events of one organization of one installation', async () => {
  const organizationId = 'org_1';
  const headers = signer.headersOf(destination(), { eventId: 'log_1', body });
  const { publicKey } = signer;
  await expect(verifyWebhook({ headers, body }, { publicKey, organizationId })).resolves.toEqual(
    JSON.parse(body),
  );
  for (const other of [{}, { organizationId: 'org_2' }]) {
    await expect(verifyWebhook({ headers, body }, { publicKey, ...other })).rejects.toMatchObject({
      reason: 'signature',
    });
  }
  const { publicKey: other } = createDeliverySigner(randomBytes(32));
  await expect(verifyWebhook({ headers, body }, { publicKey: other, organizationId })).rejects.toMatchObject({
    reason: 'signature',
  });
});

test('no changed byte is verified, by any of the keys', async () => {
  const headers = signer.headersOf(destination(), { eventId: 'log_1', body });
  const keys = { secrets: secretsOf(destination()), publicKey: signer.publicKey, organizationId: 'org_1' };
  const bytes = Buffer.from(body);
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, by) => {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ by;
      await expect(verifyWebhook({ headers, body: changed }, keys)).rejects.toMatchObject({
        reason: 'signature',
      });
    }),
    { numRuns: 100 },
  );
});
