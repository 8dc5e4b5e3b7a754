import { createHmac, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from 'node:crypto';
import type { Destination } from '../db/destinations';

// Standard Webhooks 1.0: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md

/** How long a secret is used after another one has taken its place, in ms. */
const OVERLAP_MS = 24 * 3_600_000;
const SECRET_BYTES = 32;
/** PKCS #8 of an Ed25519 key, before its 32 bytes (RFC 8410, section 7). */
const ED25519_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

const derived = (seed: Buffer, about: string) =>
  Buffer.from(hkdfSync('sha256', seed, '', `orgwallet/${about}`, SECRET_BYTES));

/** What signs deliveries: everything is derived from the seed of the installation, and stored nowhere. */
export interface DeliverySigner {
  /** `whpk_` and the Ed25519 key that verifies every delivery of this installation, as base64. */
  readonly publicKey: string;
  /** The secrets of a destination, `whsec_` and base64: its own, and for a day the one before it. */
  secretsOf(
    destination: Pick<Destination, 'id' | 'generation' | 'rotatedAt'>,
    nowMs?: number,
  ): DeliverySecret[];
  /** The headers of one delivery. */
  headersOf(
    destination: Destination,
    delivery: { readonly eventId: string; readonly body: string; readonly nowMs?: number },
  ): {
    [name: string]: string;
  };
}

/** A secret, and until when it is used; null: until it is rotated. */
interface DeliverySecret {
  readonly secret: string;
  readonly until: Date | null;
}

/** Creates what signs deliveries. `seed`: 32 secret bytes of the installation. */
export function createDeliverySigner(seed: Buffer): DeliverySigner {
  const privateKey: KeyObject = createPrivateKey({
    key: Buffer.concat([ED25519_PREFIX, derived(seed, 'webhooks/ed25519')]),
    format: 'der',
    type: 'pkcs8',
  });
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const publicKey = `whpk_${spki.subarray(-SECRET_BYTES).toString('base64')}`;
  const secretOf = (id: string, generation: number) => derived(seed, `webhooks/${id}/${generation}`);

  /** The generations of a secret that are used now, with their ends. */
  function generations(
    { generation, rotatedAt }: Pick<Destination, 'generation' | 'rotatedAt'>,
    nowMs: number,
  ) {
    const until = rotatedAt && new Date(rotatedAt.getTime() + OVERLAP_MS);
    const isOverlapping = until !== null && until.getTime() > nowMs && generation > 1;
    return [{ generation, until: null }, ...(isOverlapping ? [{ generation: generation - 1, until }] : [])];
  }

  return {
    publicKey,
    secretsOf: (destination, nowMs = Date.now()) =>
      generations(destination, nowMs).map(({ generation, until }) => ({
        secret: `whsec_${secretOf(destination.id, generation).toString('base64')}`,
        until,
      })),
    headersOf(destination, { eventId, body, nowMs = Date.now() }) {
      const timestamp = String(Math.floor(nowMs / 1_000));
      const signed = `${eventId}.${timestamp}.${body}`;
      const macs = generations(destination, nowMs).map(
        ({ generation }) =>
          `v1,${createHmac('sha256', secretOf(destination.id, generation)).update(signed).digest('base64')}`,
      );
      return {
        'webhook-id': eventId,
        'webhook-timestamp': timestamp,
        'webhook-signature': [
          ...macs,
          `v1a,${sign(null, Buffer.from(signed), privateKey).toString('base64')}`,
        ].join(' '),
      };
    },
  };
}
