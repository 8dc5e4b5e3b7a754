import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { z } from 'zod';
import type { Config } from '../config';

const { Payload: PayloadMessage } = temporal.api.common.v1;

/** The keys of payloads by their id: one encrypts (null: none), all decrypt. */
export interface PayloadKeys {
  readonly current: string | null;
  readonly keys: ReadonlyMap<string, Buffer>;
}

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const ENCODING = 'binary/encrypted';
const CIPHER = 'aes-256-gcm';

const keysFile = z
  .strictObject({
    current: z.string().min(1).nullable(),
    keys: z.record(
      z.string().min(1),
      z
        .base64()
        .transform((text) => Buffer.from(text, 'base64'))
        .refine((key) => key.length === KEY_BYTES, `must be ${KEY_BYTES} bytes in base64`),
    ),
  })
  .refine(({ current, keys }) => current === null || Object.hasOwn(keys, current), {
    path: ['current'],
    message: 'must be the id of a key',
  });

/** Reads the keys of payloads. Throws Error that names the field; it repeats no key. */
export function readPayloadKeys(file: string): PayloadKeys {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new Error(`${file} cannot be read as JSON`);
  }
  const parsed = keysFile.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`${file} at ${issue?.path.join('.') || 'top'}: ${issue?.message}`);
  }
  const { current, keys } = parsed.data;
  return { current, keys: new Map(Object.entries(keys)) };
}

const bytes = (text: string) => new Uint8Array(Buffer.from(text));
const textOf = (data: Uint8Array | null | undefined) => Buffer.from(data ?? []).toString();

/**
 * Encrypts what Temporal stores of workflows: inputs, results and messages (AES-256-GCM, NIST SP 800-38D). What is not
 * encrypted is read as it is: to turn encryption on, and off by a file whose current key is null.
 */
export class EncryptingCodec implements PayloadCodec {
  constructor(private readonly keys: PayloadKeys) {}

  async encode(payloads: Payload[]): Promise<Payload[]> {
    const { current } = this.keys;
    return current === null ? payloads : payloads.map((payload) => this.encrypt(payload, current));
  }

  /** Throws Error for a key that is not there, and for bytes that were changed. */
  async decode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) =>
      textOf(payload.metadata?.encoding) === ENCODING ? this.decrypt(payload) : payload,
    );
  }

  private encrypt(payload: Payload, current: string): Payload {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.requireKey(current), iv).setAAD(bytes(current));
    const plain = PayloadMessage.encode(payload).finish();
    const data = Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    return { metadata: { encoding: bytes(ENCODING), 'encryption-key-id': bytes(current) }, data };
  }

  private decrypt({ metadata, data }: Payload): Payload {
    const id = textOf(metadata?.['encryption-key-id']);
    const sealed = Buffer.from(data ?? []);
    const iv = sealed.subarray(0, IV_BYTES);
    const options = { authTagLength: TAG_BYTES };
    const decipher = createDecipheriv(CIPHER, this.requireKey(id), iv, options).setAAD(bytes(id));
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    const plain = Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
    return PayloadMessage.decode(plain);
  }

  private requireKey(id: string): Buffer {
    const key = this.keys.keys.get(id);
    if (!key)
      throw new Error(`the key ${JSON.stringify(id)} of a payload is not in TEMPORAL_PAYLOAD_KEYS_FILE`);
    return key;
  }
}

/** How clients and workers convert payloads: encrypted where keys are given. Throws Error for a file that does not fit. */
export function conversion({ payloadKeysFile: file }: Config['temporal']): { dataConverter?: DataConverter } {
  return file ? { dataConverter: { payloadCodecs: [new EncryptingCodec(readPayloadKeys(file))] } } : {};
}
