import type { FeedEvent } from './events.ts';

/** What is known of a webhook, to verify its requests. */
export interface WebhookKeys {
  /** Its secrets, `whsec_…`: while one is rotated, both. */
  readonly secrets?: readonly string[] | undefined;
  /**
   * The public key of the installation, `whpk_…`: `https://…/.well-known/orgwallet-webhooks.json`. It signs the events of each of
   * its organizations: it counts with `organizationId` only.
   */
  readonly publicKey?: string | undefined;
  /** The organization whose events are expected, `org_…`. */
  readonly organizationId?: string | undefined;
}

/** An event of a webhook. */
export type WebhookEvent = Omit<FeedEvent, 'cursor'>;

/** A request of a webhook, as it came. */
export interface WebhookRequest {
  readonly headers: Headers | { readonly [name: string]: string | readonly string[] | undefined };
  /** The bytes of the body, or their text: nothing that was parsed and written again. */
  readonly body: string | Uint8Array;
}

/** How a request is verified. */
export interface WebhookOptions {
  /**
   * The last event that was handled, of the webhook without `types`: the next one has to follow it. Absent: the chain of hashes is
   * not compared.
   */
  readonly previous?: Pick<WebhookEvent, 'position' | 'hash'> | undefined;
  /** How far its time may be from now, in seconds; 300 by default. */
  readonly toleranceSeconds?: number | undefined;
  /** Now, in ms. */
  readonly nowMs?: number | undefined;
}

/** A request is not one of this webhook, or does not follow what was handled. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  constructor(
    /**
     * `signature`: nobody with the keys has sent it. `timestamp`: too long ago. `repeated`: it was handled. `gap`: events before it
     * are missing. `forked`: the log is another one, because the database was restored from a backup.
     */
    readonly reason: 'malformed' | 'timestamp' | 'signature' | 'repeated' | 'gap' | 'forked',
    message: string,
  ) {
    super(message);
  }
}

const TOLERANCE_SECONDS = 300;
const encoder = new TextEncoder();

function bytesOf(prefix: string, text: string): Uint8Array<ArrayBuffer> {
  const base64 = text.startsWith(prefix) ? text.slice(prefix.length) : text;
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

function header({ headers }: WebhookRequest, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  if (typeof value !== 'string' || value === '')
    throw new WebhookError('malformed', `the header ${name} is missing`);
  return value;
}

async function isSigned(
  signed: Uint8Array<ArrayBuffer>,
  signatures: readonly (readonly [version: string, base64: string])[],
  { secrets = [], publicKey, organizationId }: WebhookKeys,
): Promise<boolean> {
  const { subtle } = crypto;
  const of = (wanted: string) =>
    signatures.flatMap(([version, text]) => (version === wanted ? [bytesOf('', text)] : []));
  for (const secret of secrets) {
    const key = await subtle.importKey(
      'raw',
      bytesOf('whsec_', secret),
      { name: 'HMAC', hash: 'SHA-256' },
      false,
      ['verify'],
    );
    // Compares in constant time.
    for (const mac of of('v1')) if (await subtle.verify('HMAC', key, mac, signed)) return true;
  }
  // Whoever has another organization there can have anything that happens in it signed, and sent to anybody.
  if (publicKey === undefined || organizationId === undefined) return false;
  const key = await subtle.importKey('raw', bytesOf('whpk_', publicKey), 'Ed25519', false, ['verify']);
  for (const signature of of('v1a')) if (await subtle.verify('Ed25519', key, signature, signed)) return true;
  return false;
}

/** Throws where an event does not follow another one. */
function assertFollows(event: WebhookEvent, previous: Pick<WebhookEvent, 'position' | 'hash'>): void {
  const [own, before] = [BigInt(event.position), BigInt(previous.position)];
  // A test is at no place.
  if (own === 0n) return;
  const here = `event ${event.position}`;
  if (own <= before) {
    if (own === before && event.hash !== previous.hash) {
      throw new WebhookError('forked', `${here} is another one than was handled`);
    }
    throw new WebhookError('repeated', `${here} was handled: the last one is ${previous.position}`);
  }
  if (own !== before + 1n)
    throw new WebhookError('gap', `${here} does not follow ${previous.position}: read the feed from there`);
  if (event.previousHash !== previous.hash) {
    throw new WebhookError(
      'forked',
      `${here} does not follow the event ${previous.position} that was handled`,
    );
  }
}

/**
 * Verifies a request of a webhook: that it was signed with one of the keys, and not long ago (Standard Webhooks 1.0), and, with
 * `previous`, that it is the next event: none is missing, and none before it was changed. Returns its event. Throws WebhookError
 * with its reason; `repeated` is to be answered with success. Source: docs/webhooks.md.
 */
export async function verifyWebhook(
  request: WebhookRequest,
  keys: WebhookKeys,
  { previous, toleranceSeconds = TOLERANCE_SECONDS, nowMs = Date.now() }: WebhookOptions = {},
): Promise<WebhookEvent> {
  const [id, timestamp] = [header(request, 'webhook-id'), header(request, 'webhook-timestamp')];
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  if (!(Math.abs(nowMs / 1_000 - seconds) <= toleranceSeconds)) {
    throw new WebhookError(
      'timestamp',
      `webhook-timestamp ${timestamp} is more than ${toleranceSeconds} s from now`,
    );
  }
  const { body } = request;
  const text = typeof body === 'string' ? body : new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
  const signatures = header(request, 'webhook-signature')
    .split(' ')
    .map((one): [string, string] => [one.split(',')[0] ?? '', one.split(',')[1] ?? '']);
  const signed = encoder.encode(`${id}.${timestamp}.${text}`);
  const isOwn = await isSigned(signed, signatures, keys).catch(() => false);
  if (!isOwn) throw new WebhookError('signature', 'no signature is one of these keys');
  const event = JSON.parse(text) as WebhookEvent;
  if (event.organizationId !== (keys.organizationId ?? event.organizationId)) {
    throw new WebhookError('signature', `it is an event of organization ${event.organizationId}`);
  }
  if (event.id !== id) throw new WebhookError('malformed', `webhook-id is ${id}, and the event ${event.id}`);
  if (previous) assertFollows(event, previous);
  return event;
}
